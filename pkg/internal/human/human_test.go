package human

import "testing"

func TestBytes(t *testing.T) {
	tests := map[int64]string{
		0: "0 B", 1: "1 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB",
		10187: "9.9 KiB", 10189: "10 KiB", 34 << 10: "34 KiB", 1023 << 10: "1023 KiB",
		1<<20 - 1: "1.0 MiB", 1 << 20: "1.0 MiB", 3 << 29: "1.5 GiB", 12 << 40: "12 TiB", 1 << 50: "1.0 PiB",
	}
	for n, want := range tests {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 files", 1: "1 file", 2: "2 files", 10_000: "10,000 files"} {
		if got := Count(n, "file"); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}
