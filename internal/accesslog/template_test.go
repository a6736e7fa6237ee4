package accesslog_test

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/accesslog"
)

// forwarded returns the entry of a request to an origin.
func forwarded() accesslog.Entry {
	return accesslog.Entry{
		Time: time.Date(2026, 11, 21, 12, 0, 1, 5_006_007, time.FixedZone("", 3600)), Took: 1500 * time.Millisecond,
		Client: netip.MustParseAddr("192.0.2.1"), User: "me", Method: "GET",
		Target: "http://www.example.org:8080/a b?c=%d", Host: "www.example.org:8080", Proto: "HTTP/1.1", Status: 200,
		Bytes: 7, Cache: "miss", Server: netip.MustParseAddrPort("198.51.100.2:81"), Forwarded: true, Rule: "default",
		Form: "forward", Service: "I2L", RequestID: "42", Referer: "https://a.example/\"x", UserAgent: "a\"b\\\tc",
		Type: "text/html; charset=utf-8",
	}
}

// line returns the line of an entry without the line end.
func line(t *testing.T, format string, e accesslog.Entry) string {
	t.Helper()
	var b bytes.Buffer
	write(t, &b, format, e)
	return strings.TrimSuffix(b.String(), "\n")
}

// TestApacheTokens checks the tokens of Apache's mod_log_config:
// https://httpd.apache.org/docs/2.4/mod/mod_log_config.html
func TestApacheTokens(t *testing.T) {
	for _, tt := range []struct{ template, want, none string }{
		{`%%`, "%", "%"},
		{`%a`, "192.0.2.1", "-"},
		{`%h`, "192.0.2.1", "-"},
		{`%l`, "-", "-"},
		{`%u`, "me", "-"},
		{`%t`, "[21/Nov/2026:11:59:59 +0100]", "[01/Jan/0001:00:00:00 +0000]"},
		{`%{begin:%H:%M:%S}t`, "11:59:59", "00:00:00"},
		{
			`%{end:%d/%b/%Y %T}t.%{end:msec_frac}t %{%z}t`, "21/Nov/2026 12:00:01.005 +0100",
			"01/Jan/0001 00:00:00.000 +0000",
		},
		{`%{sec}t`, "1795258799", "-62135596800"},
		{`%{end:msec}t`, "1795258801005", "-62135596800000"},
		{`%{end:usec}t`, "1795258801005006", "-62135596800000000"},
		{`%{end:usec_frac}t`, "005006", "000000"},
		{`%r`, "GET http://www.example.org:8080/a b?c=%d HTTP/1.1", "- "},
		{`%s %>s %<s`, "200 200 200", "- - -"},
		{`%b`, "7", "-"},
		{`%B`, "7", "0"},
		{`%D %T`, "1500000 1", "0 0"},
		{`%{us}T %{ms}T %{s}T`, "1500000 1500 1", "0 0 0"},
		{`%H`, "HTTP/1.1", "-"},
		{`%m`, "GET", "-"},
		{`%q`, "?c=%d", ""},
		{`%U`, "/a b", "-"},
		{`%v %V`, "www.example.org www.example.org", "- -"},
		{`%p`, "8080", "-"},
		{`%L`, "42", "-"},
		{`"%{Referer}i"`, `"https://a.example/\"x"`, `"-"`},
		{`"%{user-AGENT}i"`, `"a\"b\\\tc"`, `"-"`},
		{`%{Host}i`, "www.example.org:8080", "-"},
		{`%{Content-Type}o`, "text/html; charset=utf-8", "-"},
		{`%{X-Request-Id}o`, "42", "-"},
		{
			`%{cache}n %{rule}n %{form}n %{service}n %{request_id}n %{origin}n`,
			"miss default forward I2L 42 198.51.100.2", "- - - - - -",
		},
		// modifiers
		{`%400,501{User-agent}i`, "-", "-"},
		{`%200,501m`, "GET", "-"},
		{`%!200,304m`, "-", "-"},
		{`%!400m`, "GET", "-"},
		// text
		{`a\tb\"c\\d\e`, "a\tb\"c\\d\\e", "a\tb\"c\\d\\e"},
		{
			`%h %l %u %t \"%r\" %>s %b`,
			`192.0.2.1 - me [21/Nov/2026:11:59:59 +0100] "GET http://www.example.org:8080/a b?c=%d HTTP/1.1" 200 7`,
			`- - - [01/Jan/0001:00:00:00 +0000] "- " - -`,
		},
	} {
		if got := line(t, "apache:"+tt.template, forwarded()); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.template, got, tt.want)
		}
		if got := line(t, "apache:"+tt.template, accesslog.Entry{}); got != tt.none && tt.none != "- " &&
			!strings.Contains(tt.none, `"- "`) {
			t.Errorf("%s, of nothing:\ngot  %s\nwant %s", tt.template, got, tt.none)
		}
	}
}

// TestSquidTokens checks the codes of Squid's logformat: squid.conf.documented, "TAG: logformat".
func TestSquidTokens(t *testing.T) {
	for _, tt := range []struct{ template, want string }{
		{`%%`, "%"},
		{`%>a %>A`, "192.0.2.1 192.0.2.1"},
		{`%<a %<A %<p`, "198.51.100.2 198.51.100.2 81"},
		{`%ts.%03tu`, "1795258801.005"},
		{`%ts.%06.6tu`, "1795258801.005006"},
		{`%tS %.6tS`, "1795258799.505 1795258799.505006"},
		{`%tl`, "21/Nov/2026:12:00:01 +0100"},
		{`%tg`, "21/Nov/2026:11:00:01 +0000"},
		{`%{%Y-%m-%d %H:%M}tl %tg{%H}`, "2026-11-21 12:00 11"},
		{`%6tr|%-6tr|%06tr|%tr`, "  1500|1500  |001500|1500"},
		{`%un %ul %ue %ui`, "me me - -"},
		{`%rm %>rm %http::rm`, "GET GET GET"},
		{`%ru`, "http://www.example.org:8080/a%20b?c=%d"},
		{`%>ru`, "http://www.example.org:8080/a%20b?c=%d"},
		{`%>rs %>rd %>rP`, "http www.example.org 8080"},
		{`%rp`, "/a%20b?c=%d"},
		{`HTTP/%rv`, "HTTP/1.1"},
		{`%{Referer}>h`, "https://a.example/%22x"},
		{`%>h{Referer}`, "https://a.example/%22x"},
		{`%{Content-Type}<h`, "text/html;%20charset=utf-8"},
		{`%03>Hs`, "200"},
		{`%mt`, "text/html"},
		{`%<st`, "7"},
		{`%Ss %Sh`, "TCP_MISS HIER_DIRECT"},
		{`%err_code %et %ea`, "- - -"},
		{`%{rule}note`, "default"},
		{`%{denied}note`, "-"},
		// encodings
		{`%"{User-Agent}>h`, `a\"b\\\tc`},
		{`%[{User-Agent}>h`, `a"b\\%09c`},
		{`%#ru`, "http://www.example.org:8080/a%20b?c=%25d"},
		{`%/ru`, `"http://www.example.org:8080/a b?c=%d"`},
		{`%/{User-Agent}>h`, `a\"b\\%09c`},
		{`%'{User-Agent}>h`, `a"b\%09c`},
		{`"%{User-Agent}>h" %un`, `"a\"b\\\tc" me`},
		{`[%{User-Agent}>h] %{User-Agent}>h`, `[a"b\\%09c] a%22b%5C%09c`},
		// widths
		{`%.3un|%5un|%-5un|%4.1un`, "me|   me|me   |   m"},
		{`"%.2{User-Agent}>h" "%.3{User-Agent}>h" %".1{User-Agent}>h`, `"a" "a\"" a`},
		{`"%.20{Referer}>h" "%-3.1{Referer}>h"`, `"https://a.example/\"" "h  "`},
		{`%/.31ru %/.36ru %/.2ru`, `http://www.example.org:8080/a "http://www.example.org:8080/a b?c=" -`},
		// formats of the documentation
		{
			`%ts.%03tu %6tr %>a %Ss/%03>Hs %<st %rm %ru %[un %Sh/%<a %mt`,
			"1795258801.005   1500 192.0.2.1 TCP_MISS/200 7 GET http://www.example.org:8080/a%20b?c=%d me " +
				"HIER_DIRECT/198.51.100.2 text/html",
		},
	} {
		if got := line(t, "squid:"+tt.template, forwarded()); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.template, got, tt.want)
		}
	}
}

func TestNamedFormats(t *testing.T) {
	for format, want := range map[string]string{
		"common":       `192.0.2.1 - me [21/Nov/2026:11:59:59 +0100] "GET http://www.example.org:8080/a b?c=%d HTTP/1.1" 200 7`,
		"squid_common": `192.0.2.1 - me [21/Nov/2026:12:00:01 +0100] "GET http://www.example.org:8080/a b?c=%d HTTP/1.1" 200 7 TCP_MISS:HIER_DIRECT`,
		"squid_combined": `192.0.2.1 - me [21/Nov/2026:12:00:01 +0100] "GET http://www.example.org:8080/a b?c=%d HTTP/1.1" 200 7 ` +
			`"https://a.example/\"x" "a\"b\\\tc" TCP_MISS:HIER_DIRECT`,
		"referrer":  `1795258801.005 192.0.2.1 https://a.example/%22x http://www.example.org:8080/a%20b?c=%d`,
		"useragent": `192.0.2.1 [21/Nov/2026:12:00:01 +0100] "a\"b\\\tc"`,
	} {
		if got := line(t, format, forwarded()); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", format, got, want)
		}
	}
	for _, name := range accesslog.FormatNames() {
		if _, err := accesslog.ParseFormat(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWrongTemplates checks that an error contains the token, its offset, and a replacement.
func TestWrongTemplates(t *testing.T) {
	for template, want := range map[string]string{
		`apache:%h %O`:                       `urnd does not support %O: write %B, the nearest token, or delete it, at offset 10 of "apache:%h %O"`,
		`apache:%{refere}i`:                  `%{refere}i: write %{referer}i`,
		`apache:%{X-Custom}i`:                `urnd does not support %{X-Custom}i`,
		`apache:%{X}i`:                       `urnd does not support %{X}i: delete it, at offset 7`,
		`apache:%C`:                          `urnd does not support %C: delete it`,
		`apache:%d`:                          `write %D`,
		`squid:%>`:                           `urnd does not support %>: delete it`,
		`apache:%{%Q}t`:                      `urnd does not support %Q of strftime`,
		`apache:%{Referer`:                   `a brace is not closed, at offset 7`,
		`apache:a%`:                          `a token is incomplete: write %% for a percent sign, at offset 8`,
		`apache:%!m`:                         `the exclamation mark is not followed by a status`,
		`apache:%h\n`:                        `\n would end the line, which has its own end: delete it, at offset 9`,
		"apache:%h\n":                        `the control character '\n' is not allowed: each entry is one line`,
		`apache:`:                            `the template has 0 bytes; it must have 1 to 4096`,
		`squid:%ts %>st`:                     `urnd does not support %>st: write %<st, the nearest token, or delete it, at offset 10 of "squid:%ts %>st"`,
		`squid:%ssl::>sni`:                   `urnd does not support %ssl::>sni`,
		`squid:%st`:                          `write %<st`,
		`squid:%{X-Custom}>h`:                `urnd does not support %{X-Custom}>h`,
		`squid:%>h`:                          `write %{User-Agent}>h`,
		`squid:%99999tr`:                     `99999 is more than 1024`,
		`squid:%"`:                           `a token is incomplete: write %% for a`,
		`combine`:                            `"combine" is not a format: write json, combined, common, referrer, squid,`,
		`apache:%99999999999s`:               `is more than 1024`,
		"squid:" + strings.Repeat("a", 5000): `the template has 5000 bytes`,
	} {
		if _, err := accesslog.ParseFormat(template); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v\nwant %s", template, err, want)
		}
	}
}

// TestHostName checks that hosts have the form that the rules of the proxy compare.
func TestHostName(t *testing.T) {
	for _, tt := range []struct {
		e    accesslog.Entry
		want string
	}{
		{
			accesslog.Entry{Method: "GET", Target: "http://u:p@WWW.Example.org.:80?a", Host: "b.example"},
			"www.example.org",
		},
		{accesslog.Entry{Method: "GET", Target: "http://[2001:DB8::1]:80/", Host: "b.example"}, "2001:db8::1"},
		{accesslog.Entry{Method: "CONNECT", Target: "a.example:443", Host: "b.example"}, "a.example"},
		{accesslog.Entry{Method: "GET", Target: "/http://a.example/", Host: "b.example:8141"}, "b.example"},
		{accesslog.Entry{Method: "GET", Target: "/a", Scheme: "https", Host: "b.example"}, "b.example"},
		{accesslog.Entry{Method: "GET", Target: "urn:a:b", Host: "[::1]"}, "::1"},
		{accesslog.Entry{}, ""},
	} {
		if got := tt.e.HostName(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.e, got, tt.want)
		}
	}
}

// hardTemplates returns templates with every encoding and every value that a client controls.
func hardTemplates() []string {
	return append(accesslog.FormatNames(),
		`apache:%a %u %r %m %q %U %v %p %H %L %{Referer}i %{User-agent}i %{Host}i %{Content-Type}o %{cache}n %{rule}n %{form}n %{service}n`,
		`squid:%"ru %[ru %#ru %/ru %'ru %ru %>ru "%ru" [%ru] %rp %>rs %>rd %>rP %rm %un %mt %rv %>a`,
		`squid:%'{Referer}>h %.5{Referer}>h %-9.3{User-Agent}>h %"{Host}>h %{rule}note %/{cache}note`)
}

func TestTemplateAllocations(t *testing.T) {
	for _, format := range hardTemplates() {
		log := newLogOf(new(discard), format, nil)
		log.Write(forwarded())
		log.Flush()
		log.Write(forwarded())
		log.Flush()
		e := forwarded()
		if n := testing.AllocsPerRun(1000, func() { log.Write(e) }); n != 0 {
			t.Errorf("%s: %v allocations", format, n)
		}
		log.Close()
	}
}

type discard struct{}

func (*discard) Write(p []byte) (int, error) { return len(p), nil }

// FuzzOneLine checks that a line contains no control characters except tabs and its final line end.
func FuzzOneLine(f *testing.F) {
	f.Add("\r\n\x00\u2028\xff\" - -\x1b[2J", "a", uint16(200), false)
	f.Add("http://a:b@[::1]:80/a b?c\n#d", "GET", uint16(0), true)
	f.Add(":", "CONNECT", uint16(407), false)
	f.Fuzz(func(t *testing.T, text, method string, status uint16, omit bool) {
		e := accesslog.Entry{
			User: text, Method: method, Target: text, Host: text, Proto: text, Status: int(status), Cache: text,
			Rule: text, Form: text, Service: text, RequestID: text, Referer: text, UserAgent: text, Type: text,
		}
		for _, format := range hardTemplates() {
			if strings.HasPrefix(format, "combined") || format == "squid" {
				e.Proto = "HTTP/1.1" // set by urnd itself
			}
			parsed, err := accesslog.ParseFormat(format)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			log := accesslog.New(&b, accesslog.Config{
				Format: parsed, Clients: accesslog.ClientNetworks,
				Omit: accesslog.Omit{User: omit, Query: omit, Referer: omit, UserAgent: omit},
			})
			log.Write(e)
			log.Close()
			got := b.String()
			if i := strings.IndexFunc(got, func(r rune) bool { return r < ' ' }); i != len(got)-1 || got[i] != '\n' {
				t.Errorf("%s: %q", format, got)
			}
			e.Proto = text
		}
	})
}

// FuzzParseFormat checks that any template is compiled or rejected with an error.
func FuzzParseFormat(f *testing.F) {
	for _, format := range append(hardTemplates(), `apache:%!200,304{%d}t%<>{ms}T`, `squid:%"-03.2{a}>h{b}`,
		"squid:%http::>Hs%") {
		f.Add(format)
	}
	f.Fuzz(func(t *testing.T, text string) {
		format, err := accesslog.ParseFormat(text)
		if err != nil {
			return
		}
		var b bytes.Buffer
		log := accesslog.New(&b, accesslog.Config{Format: format})
		log.Write(forwarded())
		log.Close()
		if got := b.String(); strings.Count(got, "\n") != 1 || got[len(got)-1] != '\n' {
			t.Errorf("%q: %q", text, got)
		}
	})
}
