package redact_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/redact"
)

func TestURLs(t *testing.T) {
	for text, want := range map[string]string{
		"http://a.example/":                          "http://a.example/",
		"http://user:secret@a.example/":              "http://user:xxxxx@a.example/",
		"FTP://user:sec@ret@a.example:21/x@y":        "FTP://user:xxxxx@a.example:21/x@y",
		"http://user@a.example/":                     "http://user@a.example/",
		"http://:secret@a.example":                   "http://:xxxxx@a.example",
		"http://a.example:80/x@y":                    "http://a.example:80/x@y",
		"http://a.example/x:y@z":                     "http://a.example/x:y@z",
		"http://user:sec/ret@a.example/":             "http://user:xxxxx@a.example/",
		"mailto:a@b.example see http://c":            "mailto:a@b.example see http://c",
		`GET "ftp://u:p@h/" and <ws://v:q@i>`:        `GET "ftp://u:xxxxx@h/" and <ws://v:xxxxx@i>`,
		"/http://user:secret@a.example/b":            "/http://user:xxxxx@a.example/b",
		"?uri=ftp://u:p@h/&x=http://w:r@j?a@b":       "?uri=ftp://u:xxxxx@h/&x=http://w:xxxxx@j?a@b",
		"http://user:se%2F%2Fcret@h/":                "http://user:xxxxx@h/",
		"http://user:pa//ss@host/":                   "http://user:xxxxx@host/",
		"http://user:pa:/ss@host/ and http://u:p@h/": "http://user:xxxxx@h/", // removes too much
		"//user:a//b@h":                              "//user:xxxxx@h",
		"u=http%3A%2F%2Fu%3Ase%252F%252Fcret%40h":    "u=http%3A%2F%2Fu%3Axxxxx%40h",
		`http:\\user:pw@h/`:                          `http:\\user:xxxxx@h/`,
		"http://a.example:80//x@y":                   "http://a.example:80//x@y",
		// Without slashes: after a scheme of URLs with an authority, and in the parameter into which users type
		// a URL.
		"ftp:bob:secret@host/x":                      "ftp:bob:xxxxx@host/x",
		"/fetch?uri=ftp:bob:secret@host/x":           "/fetch?uri=ftp:bob:xxxxx@host/x",
		"/fetch?uri=ftp%3Abob%3Asecret%40host%2Fx":   "/fetch?uri=ftp%3Abob%3Axxxxx%40host%2Fx",
		"/fetch?uri=ftp:/bob:secret@host/x":          "/fetch?uri=ftp:/bob:xxxxx@host/x",
		"/fetch?uri=ftp:bob:sec/ret@host/x":          "/fetch?uri=ftp:bob:xxxxx@host/x",
		"/fetch?uri=ftp:bob:s=ftp:ecret@host/x":      "/fetch?uri=ftp:bob:xxxxx@host/x",
		"/fetch?uri=ftp:bob:ftp:secret@host":         "/fetch?uri=ftp:bob:xxxxx@host",
		"/fetch?uri=ftp:bob@host/":                   "/fetch?uri=ftp:bob@host/",
		"/fetch?uri=bob:secret@host":                 "/fetch?uri=bob:xxxxx@host",
		"/?uri=view-source:http://u:secret@h/":       "/?uri=view-source:http://u:xxxxx@h/",
		"/fetch?uri=bob:sec@ret@host:21/x@y":         "/fetch?uri=bob:xxxxx@host:21/x@y",
		"/fetch?uri=bob%3Asecret%40host":             "/fetch?uri=bob%3Axxxxx%40host",
		"/fetch?a=b&uri=%3Curl:bob:secret@host%3E":   "/fetch?a=b&uri=%3Curl:xxxxx@host%3E",
		"/fetch?uri=%20bob:secret@host&x=http:u:p@h": "/fetch?uri=%20bob:xxxxx@host&x=http:u:xxxxx@h",
		"https://urnd/fetch?uri=bob:secret@host":     "https://urnd/fetch?uri=bob:xxxxx@host",
		`parsing "ftp:bob:secret@host": offset 4`:    `parsing "ftp:bob:xxxxx@host": offset 4`,
		"see z39.50r:bob:secret@host/db":             "see z39.50r:bob:xxxxx@host/db",
		"see rlogin:bob:secret@host":                 "see rlogin:bob:xxxxx@host",
		"/fetch?uri=mailto:a@b.example":              "/fetch?uri=mailto:a@b.example",
		"/fetch?uri=mailto:a:b@c.example":            "/fetch?uri=mailto:a:b@c.example",
		"/fetch?uri=MailTo%3Aa%3Ab%40c&y=http:u:p@h": "/fetch?uri=MailTo%3Aa%3Ab%40c&y=http:u:xxxxx@h",
		"/fetch?uri=urn:example:a:b@c":               "/fetch?uri=urn:example:a:b@c",
		"/fetch?uri=news:a:1@b.example":              "/fetch?uri=news:a:1@b.example",
		"/fetch?uri=news://u:p@h/a:1@b.example":      "/fetch?uri=news://u:xxxxx@h/a:1@b.example",
		"/fetch?uri=nntp://h/group/1":                "/fetch?uri=nntp://h/group/1",
		"/fetch?uri=doi:10.1000/a:1@b":               "/fetch?uri=doi:10.1000/a:1@b",
		"/fetch?uri=a.example:80/x@y":                "/fetch?uri=a.example:80/x@y",
		"/urn:example:a:b@c":                         "/urn:example:a:b@c",
		"news:a:1@b.example and xftp:a:b@c":          "news:a:1@b.example and xftp:a:b@c",
	} {
		if got := redact.URLs(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// TestURLsAt checks that an offset refers to the same byte, or to its replacement.
func TestURLsAt(t *testing.T) {
	for _, tt := range []struct{ text, from, want string }{ // the offset is that of from
		{"ftp://bob:secret@h/x;type=q", "q", "ftp://bob:xxxxx@h/x;type=q"},
		{"ftp://bob:secret@h/x;type=q", "bob", "ftp://bob:xxxxx@h/x;type=q"},
		{"ftp://bob:secret@h/x;type=q", "@h", "ftp://bob:xxxxx@h/x;type=q"},
		{"ftp://bob:s@h/x;type=q", "q", "ftp://bob:xxxxx@h/x;type=q"},
		{"ftp://bob:@h/x;type=q", "q", "ftp://bob:xxxxx@h/x;type=q"},
		{"http://u:secret@h/http://v:s@i/q", "q", "http://u:xxxxx@h/http://v:xxxxx@i/q"},
		{"http://h/q", "q", "http://h/q"},
		{"ftp:bob:secret@h", "bob", "ftp:bob:xxxxx@h"},
	} {
		text, offset := redact.URLsAt(tt.text, strings.Index(tt.text, tt.from))
		if text != tt.want || offset != strings.Index(tt.want, tt.from) {
			t.Errorf("%s at %s: %s, %d", tt.text, tt.from, text, offset)
		}
	}
	for _, offset := range []int{len("ftp://bob:"), len("ftp://bob:sec")} {
		if _, moved := redact.URLsAt("ftp://bob:secret@h/", offset); moved != len("ftp://bob:") {
			t.Errorf("%d is moved to %d", offset, moved)
		}
	}
}

func TestAttr(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: redact.Attr}))
	log.With("url", "ftp://u:secret@a/").Warn("fetching http://u:secret@b/", "error",
		errors.New("asking http://u:secret@c/"), slog.Group("g", "url",
			"ftp://u:secret@d/"))
	if got := b.String(); strings.Contains(got, "secret") || strings.Count(got, "xxxxx") != 4 {
		t.Errorf("%s", got)
	}
}

func FuzzURLs(f *testing.F) {
	f.Add("http://user:secret@a.example/")
	f.Add("/fetch?uri=ftp:bob:secret@host/x")
	f.Add("/fetch?a=b&uri=%3Cbob:secret@host%3E")
	f.Fuzz(func(t *testing.T, text string) {
		got, last := redact.URLsAt(text, len(text))
		if last != len(got) {
			t.Errorf("%q: the end is %d in %q", text, last, got)
		}
		if again := redact.URLs(got); again != got {
			t.Errorf("%q: %q, and again %q", text, got, again)
		}
	})
}
