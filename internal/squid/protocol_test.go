package squid

import (
	"strings"
	"testing"
)

// TestParseRequest parses lines of Squid 5.7 with its default extras, "%>a/%>A %un %>rm myip=%la myport=%lp".
func TestParseRequest(t *testing.T) {
	for text, want := range map[string]Request{
		"http://a.example/ 127.0.0.1/- - GET myip=127.0.0.1 myport=3128":   {"", "http://a.example/"},
		"0 http://a.example/ 127.0.0.1/- - GET myip=127.0.0.1 myport=3128": {"0", "http://a.example/"},
		"63 urn:ietf:rfc:2648 127.0.0.1/host.example user GET":             {"63", "urn:ietf:rfc:2648"},
		"007 urn:ietf:rfc:1":                  {"007", "urn:ietf:rfc:1"}, // echoed unchanged
		"18446744073709551615 urn:a1:b":       {"18446744073709551615", "urn:a1:b"},
		"999999999999999999999 urn:a1:b":      {"", "999999999999999999999"},
		"a.example:443 127.0.0.1/- - CONNECT": {"", "a.example:443"},
		"1234:443 127.0.0.1/- - CONNECT":      {"", "1234:443"},
		"urn:a1:b":                            {"", "urn:a1:b"},
		"urn:a1:b\r":                          {"", "urn:a1:b"},
		"http://a/%20|\"\\ 127.0.0.1/- - GET": {"", `http://a/%20|"\`},
		"7":                                   {"7", ""},
		"7 ":                                  {"7", ""},
		"7  x":                                {"7", ""},
		"":                                    {},
		" ":                                   {},
	} {
		if got := ParseRequest(text); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func TestAnswer(t *testing.T) {
	for _, tt := range []struct {
		answer        Answer
		channel, want string
	}{
		{Redirect("https://a.example/?b=c#d"), "", `OK status=302 url="https://a.example/?b=c#d"`},
		{Rewrite("http://a.example/"), "3", `3 OK rewrite-url="http://a.example/"`},
		{StoreID("urn:isbn:0395363411"), "12", `12 OK store-id="urn:isbn:0395363411"`},
		{Unchanged(), "", "ERR"},
		{Unchanged(), "0", "0 ERR"},
		{Refused(`parsing "a b"`), "", `ERR message="parsing \"a b\""`},
		{Broken("a\\n\"\r\nb\x00\x7f\u00fc"), "1", `1 BH message="a\\n\"??b??` + "\u00fc\""},
		{Broken(""), "", `BH message=""`},
	} {
		if got := string(tt.answer.AppendTo(nil, tt.channel)); got != tt.want+"\n" {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// unquote parses a quoted value like Squid's strwordtok (src/tools.cc), which converts "\n" and "\r" to line
// ends.
func unquote(text string) (value, rest string) {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(strings.NewReplacer("n", "\n", "r", "\r").Replace(text[i : i+1])[0])
		case c == '"':
			quoted = !quoted
		case !quoted && c == ' ':
			return b.String(), text[i:]
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}

// FuzzAnswer checks that Squid reads the answer unchanged from one line, whatever its value.
func FuzzAnswer(f *testing.F) {
	f.Add("http://a.example/", "")
	f.Add(`a\n"b" status=301 url="http://evil.example/`, "1")
	f.Add("a\r\n2 OK url=\"http://evil.example/\"", "")
	f.Fuzz(func(t *testing.T, value, first string) {
		channel := ParseRequest(first + " x").Channel
		line := string(Redirect(value).AppendTo(nil, channel))
		text, ended := strings.CutSuffix(line, "\n")
		if !ended || strings.ContainsAny(text, "\r\n\x00") {
			t.Fatalf("not one line: %q", line)
		}
		if channel != "" {
			var ok bool
			if text, ok = strings.CutPrefix(text, channel+" "); !ok {
				t.Fatalf("no channel %q: %q", channel, line)
			}
		}
		quoted, ok := strings.CutPrefix(text, "OK status=302 url=")
		if !ok {
			t.Fatalf("%q", line)
		}
		clean := []byte(value)
		for i, b := range clean {
			if b < ' ' || b == 0x7f {
				clean[i] = '?'
			}
		}
		if got, rest := unquote(quoted); got != string(clean) || rest != "" {
			t.Fatalf("%q is read as %q and %q", value, got, rest)
		}
	})
}

// FuzzParseRequest checks that a parsed request contains only parts of its line.
func FuzzParseRequest(f *testing.F) {
	f.Add("0 http://a.example/ 127.0.0.1/- - GET myip=127.0.0.1 myport=3128")
	f.Add("urn:ietf:rfc:2648 127.0.0.1/- - GET")
	f.Add("7")
	f.Fuzz(func(t *testing.T, text string) {
		r := ParseRequest(text)
		if strings.Trim(r.Channel, "0123456789") != "" || strings.Contains(r.URL, " ") {
			t.Fatalf("%q: %+v", text, r)
		}
		start := r.URL
		if r.Channel != "" {
			start = strings.TrimSuffix(r.Channel+" "+r.URL, " ")
		}
		if !strings.HasPrefix(text, start) {
			t.Fatalf("%q: %+v", text, r)
		}
	})
}
