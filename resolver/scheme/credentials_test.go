package scheme_test

import (
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
)

// TestCredentialsOf requires that only schemes with the syntax of RFC 9110 section 11.4 are recognized.
func TestCredentialsOf(t *testing.T) {
	for text, want := range map[string]scheme.Credentials{
		"":                          scheme.CredentialsPerRequest,
		"Basic YTpi":                scheme.CredentialsPerRequest,
		"bearer x":                  scheme.CredentialsPerRequest,
		`Digest username="NTLM a"`:  scheme.CredentialsPerRequest,
		"AWS4-HMAC-SHA256 x=y":      scheme.CredentialsPerRequest,
		"Negotiate YII=":            scheme.CredentialsPerConnection,
		"NTLM TlRMTVNTUAAB":         scheme.CredentialsPerConnection,
		"ntlm":                      scheme.CredentialsPerConnection,
		"KERBEROS a":                scheme.CredentialsPerConnection,
		"Nego2 a":                   scheme.CredentialsPerConnection,
		"Basic YTpi|NTLM a":         scheme.CredentialsPerConnection, // two field lines
		"Negotiate\tYII=":           scheme.CredentialsUnknown,
		"NegotiateYII=":             scheme.CredentialsUnknown,
		" Negotiate YII=":           scheme.CredentialsUnknown,
		"Basic\tYTpi":               scheme.CredentialsUnknown,
		"Basic, NTLM a":             scheme.CredentialsUnknown,
		"Custom a":                  scheme.CredentialsUnknown,
		"Custom a|Basic YTpi":       scheme.CredentialsUnknown,
		"Passport1.4 from-PP='t=a'": scheme.CredentialsUnknown,
	} {
		header := httpmessage.Fields{}
		if text != "" {
			for line := range strings.SplitSeq(text, "|") {
				header.Add("Authorization", line)
			}
		}
		if got := scheme.CredentialsOf(header); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// TestConnectionChallenges: a list has challenges as well as their parameters (RFC 9110 section 11.6.1).
func TestConnectionChallenges(t *testing.T) {
	for text, tt := range map[string]struct {
		rest         string // field lines; "" for none
		found, token bool
	}{
		`Basic realm="a"`:                        {`Basic realm="a"`, false, false},
		`Negotiate`:                              {"", true, false},
		`NTLM TlRM==`:                            {"", true, true},
		`Negotiate|NTLM|Basic realm="a, NTLM b"`: {`Basic realm="a, NTLM b"`, true, false},
		`Negotiate, Basic realm="\"a, NTLM b", charset="UTF-8"`: {
			`Basic realm="\"a, NTLM b", charset="UTF-8"`,
			true, false,
		},
		`Digest realm=a , qop = "auth,auth-int",NTLM , Bearer`: {
			`Digest realm=a, qop = "auth,auth-int"|Bearer`,
			true, false,
		},
		`newauth realm="apps", type=1, title="Login \"to\" apps"`: {`newauth realm="apps", type=1, title="Login \"to\" apps"`, false, false},
		`, ,Basic realm=a,, kerberos YII=,`:                       {`Basic realm=a`, true, true},
		`Basic realm="unterminated, NTLM \`:                       {`Basic realm="unterminated, NTLM \`, false, false},
		`=,"`:                                                     {`=, "`, false, false},
		``:                                                        {"", false, false},
	} {
		lines := strings.Split(text, "|")
		rest, found := scheme.WithoutConnectionSchemes(lines)
		if want := strings.ReplaceAll(tt.rest, "|", ", "); strings.Join(rest, ", ") != want || found != tt.found {
			t.Errorf("%s: %q, %t", text, rest, found)
		}
		for _, name := range []string{
			"Www-Authenticate", "Proxy-Authenticate", "Authentication-Info",
			"Proxy-Authentication-Info",
		} {
			if got := scheme.HasConnectionToken(httpmessage.FromHeader(http.Header{name: lines})); got != tt.token {
				t.Errorf("%s: %s: token %t", name, text, got)
			}
		}
	}
}

// TestConnectionChallengesAreLinear: a server may fill a header section with challenges, or with the parameters
// of one. The memory for them must be linear in their length.
func TestConnectionChallengesAreLinear(t *testing.T) {
	const length, bytesEach = 64 << 10, 500 // bytes of memory per byte
	for _, unit := range []string{"a=b,", "a,", ",", "=,", "Negotiate,", "Negotiate a=b,c=d,", `"`, "\\"} {
		line := "Basic " + strings.Repeat(unit, length/len(unit))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		scheme.HasConnectionToken(httpmessage.NewFields("Www-Authenticate", line))
		scheme.WithoutConnectionSchemes([]string{line})
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > bytesEach*length {
			t.Errorf("%q: %d bytes of memory for %d", unit, used, length)
		}
	}
}

// FuzzConnectionChallenges: the result has no challenge of a connection scheme, and does not change when
// filtered again. Lines without such challenges only lose spaces.
func FuzzConnectionChallenges(f *testing.F) {
	for _, text := range []string{
		"Negotiate", `Basic realm="a, NTLM b", Negotiate YII==`, `a="\", b`, ", ,=,\\",
		"NTLM\t=a, Kerberos",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, line string) {
		rest, found := scheme.WithoutConnectionSchemes([]string{line})
		again, foundAgain := scheme.WithoutConnectionSchemes(rest)
		if foundAgain || !slices.Equal(rest, again) {
			t.Errorf("%q: %q, and then %q", line, rest, again)
		}
		if scheme.HasConnectionToken(httpmessage.FromHeader(http.Header{"Www-Authenticate": rest})) ||
			scheme.HasConnectionToken(httpmessage.NewFields("Www-Authenticate", line)) && !found {
			t.Errorf("%q has a token", line)
		}
		squeeze := func(s string) string { return strings.NewReplacer(" ", "", "\t", "", ",", "").Replace(s) }
		if !found && squeeze(line) != squeeze(strings.Join(rest, "")) {
			t.Errorf("%q became %q", line, fmt.Sprint(rest))
		}
	})
}
