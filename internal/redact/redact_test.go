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
		"http://user:pa:/ss@host/ and http://u:p@h/": "http://user:xxxxx@h/", // hides too much
		"//user:a//b@h":                              "//user:xxxxx@h",
		"u=http%3A%2F%2Fu%3Ase%252F%252Fcret%40h":    "u=http%3A%2F%2Fu%3Axxxxx%40h",
		`http:\\user:pw@h/`:                          `http:\\user:xxxxx@h/`,
		"http://a.example:80//x@y":                   "http://a.example:80//x@y",
	} {
		if got := redact.URLs(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestAttr(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: redact.Attr}))
	log.With("url", "ftp://u:secret@a/").Warn("fetching http://u:secret@b/", "error", errors.New("asking http://u:secret@c/"), slog.Group("g", "url", "ftp://u:secret@d/"))
	if got := b.String(); strings.Contains(got, "secret") || strings.Count(got, "xxxxx") != 4 {
		t.Errorf("%s", got)
	}
}

func FuzzURLs(f *testing.F) {
	f.Add("http://user:secret@a.example/")
	f.Fuzz(func(t *testing.T, text string) {
		got := redact.URLs(text)
		if again := redact.URLs(got); again != got {
			t.Errorf("%q: %q, and again %q", text, got, again)
		}
	})
}
