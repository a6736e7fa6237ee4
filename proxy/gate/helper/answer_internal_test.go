package helper

import (
	"reflect"
	"strings"
	"testing"
)

// They include the examples of squid.conf.documented of Squid 5.7 and of its wiki.
func TestParseAnswer(t *testing.T) {
	for line, want := range map[string]Answer{
		"OK":                          {Result: OK},
		"ERR":                         {Result: ERR},
		"OK user=John%20Smith":        {Result: OK, Pairs: []Pair{{"user", "John Smith"}}},
		`OK user="John Smith"`:        {Result: OK, Pairs: []Pair{{"user", "John Smith"}}},
		`OK user="J. \"Bob\" Smith"`:  {Result: OK, Pairs: []Pair{{"user", `J. "Bob" Smith`}}},
		`OK user="100%25"`:            {Result: OK, Pairs: []Pair{{"user", "100%25"}}},
		"OK user=100%  tag=a":         {Result: OK, Pairs: []Pair{{"user", "100%"}, {"tag", "a"}}},
		"OK group=a group=b log=c":    {Result: OK, Pairs: []Pair{{"group", "a"}, {"group", "b"}, {"log", "c"}}},
		`ERR message="line\nanother"`: {Result: ERR, Pairs: []Pair{{"message", "line\nanother"}}},
		"OK text of old":              {Result: OK, Text: "text of old"},
		"ERR Wrong password ":         {Result: ERR, Text: "Wrong password"},
		"OK user=a then text":         {Result: OK, Pairs: []Pair{{"user", "a"}}, Text: "then text"},
		"OK user= tag=b":              {Result: OK, Text: "user= tag=b"}, // no space may follow "="
		"OK user=":                    {Result: OK, Pairs: []Pair{{"user", ""}}},
		"OK a.b=c":                    {Result: OK, Text: "a.b=c"},
		"OK token=YQ== user=a@B":      {Result: OK, Pairs: []Pair{{"token", "YQ=="}, {"user", "a@B"}}},
		"BH message=\"no server\"":    {Result: BH, Pairs: []Pair{{"message", "no server"}}},
		"BH no server":                {Result: BH, Text: "no server"},
		"TT YWJj":                     {Result: TT, Pairs: []Pair{{"token", "YWJj"}}},
		"TT ":                         {Result: BH, Text: "TT without a token"},
		"TT":                          {Result: BH, Text: "TT without a token"},
		"AF YQ== a@B":                 {Result: OK, Pairs: []Pair{{"token", "YQ=="}, {"user", "a@B"}}},
		"AF YQ== a@B group=g":         {Result: OK, Pairs: []Pair{{"token", "YQ=="}, {"user", "a@B"}, {"group", "g"}}},
		"AF a":                        {Result: OK, Pairs: []Pair{{"user", "a"}}},
		"AF ":                         {Result: BH, Text: "AF without a user"},
		"NA user=nobody":              {Result: ERR, Text: "user=nobody"},
		"":                            {},
		"OKAY":                        {},
		"ok":                          {},
		"http://example.com/":         {},
	} {
		if got := parseAnswer(line); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, want %+v", line, got, want)
		}
	}
}

func TestAnswerValues(t *testing.T) {
	a := parseAnswer(`OK user="a\nb" group=x group=y tag=t log=l`)
	if a.User() != "" || !reflect.DeepEqual(a.Groups(), []string{"x", "y"}) || a.Value("tag") != "t" ||
		a.Value("log") != "l" || a.Message() != "" {
		t.Errorf("%+v", a)
	}
	for line, want := range map[string]string{
		"ERR no such user": "no such user", "ERR message=no": "no",
		"OK of old": "",
	} {
		if got := parseAnswer(line).Message(); got != want {
			t.Errorf("%q has the message %q, want %q", line, got, want)
		}
	}
}

func TestQuote(t *testing.T) {
	for value, want := range map[string]string{
		"a": "a", "a b": "a%20b", "2001:db8::1": "2001:db8::1", "a/b?c=d&e": "a/b?c=d&e", `"\`: "%22%5c",
		"a\r\nb": "a%0d%0ab", "ä%": "%c3%a4%25",
		"\x00\x7f": "%00%7f",
	} {
		if got := escape(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

func FuzzQuote(f *testing.F) {
	for _, seed := range []string{"", "a b", "%41%", `a\"`, "\n", "=x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		line := escape(value)
		if strings.ContainsAny(line, " \n\r\x00") || unescape(line) != value {
			t.Errorf("%q is escaped as %q", value, line)
		}
		a := parseAnswer("OK user=" + line + " x=y")
		if value != "" && (a.Value("user") != value || a.Value("x") != "y") {
			t.Errorf("%q comes back as %+v", value, a)
		}
	})
}

func FuzzParseAnswer(f *testing.F) {
	for _, seed := range []string{"OK", "ERR message=\"a\\", "AF a b c=d", "TT x", "BH =", "OK a=\"b\"c=d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		a := parseAnswer(line)
		if a.Result != OK && (strings.HasPrefix(line, "OK ") || line == "OK") {
			t.Errorf("%q is %+v", line, a)
		}
		if a.Result == OK && !strings.HasPrefix(line, "OK") && !strings.HasPrefix(line, "AF ") {
			t.Errorf("%q is let in", line)
		}
		if a.size() > 64*(len(line)+1) {
			t.Errorf("%q has a size of %d", line, a.size())
		}
	})
}

func TestParseChannel(t *testing.T) {
	for text, want := range map[string]int{
		"0": 0, "7": 7, "8": -1, "-0": -1, "+1": -1, "": -1, "x": -1,
		"00000000001": -1, "99999999999999999999": -1,
	} {
		if got, ok := parseChannel(text, 8); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %d, %v", text, got, ok)
		}
	}
}

func TestEnvironment(t *testing.T) {
	got := environment([]string{"PATH=/bin", "SECRET=a", "LANG=C", "PATHS=b", "LC_ALL=C"})
	if !reflect.DeepEqual(got, []string{"PATH=/bin", "LANG=C"}) {
		t.Errorf("%q", got)
	}
}
