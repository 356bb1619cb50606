// Package human formats sizes, numbers and command lines for people, and suggests the words that
// they may have meant. It uses only the standard library, because the front door links it.
package human

import (
	"fmt"
	"strconv"
	"strings"
)

// Bytes formats a size for people: 0 B, 1.5 KiB, 34 KiB, 2.0 GiB. Units are powers of 1024, named as
// in Kubernetes.
func Bytes(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	size := float64(n)
	for _, unit := range []string{"KiB", "MiB", "GiB", "TiB"} {
		size /= 1024
		switch {
		case size < 9.95:
			return fmt.Sprintf("%.1f %s", size, unit)
		case size < 1023.5:
			return fmt.Sprintf("%.0f %s", size, unit)
		}
	}
	return fmt.Sprintf("%.1f PiB", size/1024)
}

// Number formats a number with commas between thousands: 832, 10,000.
func Number(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Count formats a number of things with its noun: 1 file, 12 files, 10,000 files.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%s %ss", Number(n), noun)
}

// Ranges writes sorted numbers: 0-2, 5.
func Ranges(numbers []int) string {
	var words []string
	for len(numbers) > 0 {
		n := 1
		for n < len(numbers) && numbers[n] == numbers[0]+n {
			n++
		}
		word := strconv.Itoa(numbers[0])
		if n > 1 {
			word += "-" + strconv.Itoa(numbers[n-1])
		}
		words, numbers = append(words, word), numbers[n:]
	}
	return strings.Join(words, ", ")
}
