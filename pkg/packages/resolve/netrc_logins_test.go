package resolve

import "testing"

func TestNetrcLogins(t *testing.T) {
	t.Parallel()
	login := NetrcLogins("# machine h login no\nmachine h login a password b # password no\nmachine h login second\nmachine n\n\tlogin c\n\taccount z\n\tpassword d\n" +
		`machine "q" login "a user" password "a\"b\\c # d"
machine s login dom\\me password \"x
machine e login TOKEN password ""
machine w user machine password default
machine l login "two
lines" password #x
default login e password f
#\`)
	for host, want := range map[string]string{
		"h": "a b", "n": "c d", "m": "e f", "": "e f", "q": `a user a"b\c # d`, "s": `dom\me "x`, "e": "TOKEN ", "w": "machine default", "l": "two\nlines #x",
	} {
		user, password, ok := login(host)
		if got := user + " " + password; got != want || !ok {
			t.Errorf("%q: got %q, %v; want %q", host, got, ok, want)
		}
	}
	for _, text := range []string{"machine h", `machine h login "`, `machine h login a password "b`, `machine h login a password \`, "machine h #"} {
		if _, _, ok := NetrcLogins(text)("other"); ok {
			t.Errorf("%s: a host that is not named has credentials", text)
		}
	}
}

func FuzzNetrc(f *testing.F) {
	f.Add(`machine h login "a\" b" password \`)
	f.Add("machine h login a password b\ndefault login x\n")
	f.Fuzz(func(t *testing.T, text string) {
		user, password, ok := NetrcLogins(text)("h")
		if !ok && user+password != "" {
			t.Errorf("%q: %q, %q", text, user, password)
		}
	})
}
