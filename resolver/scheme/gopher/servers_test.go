package gopher_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/scheme"
)

// files creates the files of the real servers.
func files(t *testing.T) string {
	t.Helper()
	dir := testserver.OpenFolder(t)
	if err := os.MkdirAll(filepath.Join(dir, "sub", "a b&c;d"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a.txt":             "first\n.hidden\n...dots\n.\nlast\n",
		"latin.txt":         "caf\xe9\n",
		"utf8.txt":          "café\n",
		"data.bin":          "\x00\x01.\r\n\x02\xff",
		"page.html":         "<title>Page</title>\n...\n",
		"pic.gif":           "GIF89a\x01\x00\x01\x00\x00\x00\x00;",
		"sub/a b&c;d/é.txt": "odd\n",
		"sub/gophermap": "Hello, without a tab\n0The " +
			"text\t/a.txt\n1Elsewhere\t/x\tgopher.example.org\t7070\nhWeb\tURL:https://example.org/a?b=c\nhScript\tURL:javascript:alert(1)\n7Find\t/find\n",
		"odd/a?b#c%41 d":        "odd\n", // gophernicus decodes such names
		"big.bin":               strings.Repeat("\x00\xff01234567", 1<<20/10),
		"utf8.txt.abstract":     "What it\nis about",
		"sub/a b&c;d/plain.txt": "plain\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const find = "#!/bin/sh\nprintf '0Found <%s>\\t/a.txt\\t127.0.0.1\\t70\\r\\n.\\r\\n' \"$SEARCHREQUEST\"\n"
	if err := os.MkdirAll(filepath.Join(dir, "cgi-bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cgi-bin", "find"), []byte(find), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// find returns the item with a name, to which the server may append text.
func find(t *testing.T, l *scheme.Listing, name string) scheme.Item {
	t.Helper()
	for _, i := range l.Items {
		if strings.HasPrefix(i.Name, name) {
			return i
		}
	}
	t.Fatalf("no item %q in %+v", name, l.Items)
	return scheme.Item{}
}

func TestServers(t *testing.T) {
	for name, start := range map[string]func(t *testing.T, dir string) string{
		"gophernicus": func(t *testing.T, dir string) string { return testserver.StartGophernicus(t, dir).Addr() },
		"pygopherd":   func(t *testing.T, dir string) string { return testserver.StartPygopherd(t, dir).Addr() },
	} {
		t.Run(name, func(t *testing.T) {
			base := "gopher://" + start(t, files(t))
			t.Run("menu", func(t *testing.T) { testMenu(t, base) })
			t.Run("map", func(t *testing.T) { testMap(t, base) })
			t.Run("documents", func(t *testing.T) { testDocuments(t, base) })
			t.Run("search", func(t *testing.T) { testSearch(t, base) })
			t.Run("absent", func(t *testing.T) { testAbsent(t, base) })
		})
	}
}

func testMenu(t *testing.T, base string) {
	l := fetch(t, handler(), base).Listing
	if l.Kind != scheme.KindMenu || l.Parent != nil || l.URI != base+"/1" || l.Incomplete != "" {
		t.Errorf("%+v", l)
	}
	for name, want := range map[string]scheme.Item{
		"a.txt":    {Kind: scheme.ItemText, URI: base + "/0/a.txt"},
		"data.bin": {Kind: scheme.ItemFile, URI: base + "/9/data.bin"},
		"pic.gif":  {Kind: scheme.ItemImage, URI: base + "/g/pic.gif"},
	} {
		if got := find(t, l, name); got.Kind != want.Kind || got.URI != want.URI {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// The links of all file names request them, each encoded once.
	l = fetch(t, handler(), find(t, l, "sub").URI).Listing
	if l.Parent == nil || l.Parent.URI != base+"/1" {
		t.Errorf("parent %+v", l.Parent)
	}
	l = fetch(t, handler(), base+"/1/sub/a%20b%26c%3Bd/").Listing
	for name, want := range map[string]string{"é.txt": "odd\n", "plain.txt": "plain\n"} {
		if got := read(t, fetch(t, handler(), find(t, l, name).URI)); strings.ReplaceAll(got, "\r", "") != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func testMap(t *testing.T, base string) {
	l := fetch(t, handler(), base+"/1/sub/").Listing
	for name, want := range map[string]scheme.Item{
		"Hello, without a tab": {Kind: scheme.ItemInfo},
		"The text":             {Kind: scheme.ItemText, URI: base + "/0/a.txt"},
		"Elsewhere":            {Kind: scheme.ItemDirectory, URI: "gopher://gopher.example.org:7070/1/x"},
		"Web":                  {Kind: scheme.ItemWeb, URI: "https://example.org/a?b=c"},
		"Script":               {Kind: scheme.ItemWeb},
		"Find":                 {Kind: scheme.ItemSearch, URI: base + "/7/find"},
	} {
		if got := find(t, l, name); got.Kind != want.Kind || got.URI != want.URI {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func testDocuments(t *testing.T, base string) {
	for path, want := range map[string]struct{ body, contentType string }{
		"/0/a.txt":     {"first\n.hidden\n...dots\n.\nlast\n", "text/plain; charset=utf-8"},
		"/0/utf8.txt":  {"café\n", "text/plain; charset=utf-8"},
		"/h/page.html": {"<title>Page</title>\n...\n", "text/html; charset=utf-8"},
		"/9/data.bin":  {"\x00\x01.\r\n\x02\xff", "application/octet-stream"},
		"/g/pic.gif":   {"GIF89a\x01\x00\x01\x00\x00\x00\x00;", "image/gif"},
		"/9/big.bin":   {strings.Repeat("\x00\xff01234567", 1<<20/10), "application/octet-stream"},
	} {
		r := fetch(t, handler(), base+path)
		body := read(t, r)
		if strings.HasPrefix(want.contentType, "text/") {
			body = strings.ReplaceAll(body, "\r", "") // gophernicus converts line ends
		}
		if body != want.body || r.Fields.Get("Content-Type") != want.contentType || r.Status != http.StatusOK ||
			r.ContentLength != -1 || !r.RemoteAddr.IsValid() {
			t.Errorf("%s: %.80q %+v", path, body, r)
		}
	}
}

func testSearch(t *testing.T, base string) {
	form := fetch(t, handler(), base+"/7/cgi-bin/find").Listing
	sent := fetch(t, handler(), form.Search.Prefix+"?search=two+words%26").Fields.Get("Location")
	l := fetch(t, handler(), sent).Listing
	want := scheme.Item{Kind: scheme.ItemText, Name: "Found <two words&>", URI: "gopher://127.0.0.1/0/a.txt"}
	if l.Kind != scheme.KindResults || len(l.Items) != 1 || l.Items[0] != want {
		t.Errorf("%s: %+v", sent, l)
	}
}

func testAbsent(t *testing.T, base string) {
	var refusal *scheme.StatusError
	_, err := handler().Fetch(t.Context(), request(t, http.MethodGet, base+"/1/none/"))
	if !errors.As(err, &refusal) || refusal.Status != http.StatusNotFound || refusal.Reply == "" {
		t.Errorf("%v", err)
	}
}

func TestPygopherdPlus(t *testing.T) {
	base := "gopher://" + testserver.StartPygopherd(t, files(t)).Addr()
	r := fetch(t, handler(), base+"/0/utf8.txt%09%09+")
	if body := read(t, r); body != "café\n" || r.ContentLength != int64(len(body)) {
		t.Errorf("%q %+v", body, r)
	}
	var refusal *scheme.StatusError
	_, err := handler().Fetch(t.Context(), request(t, http.MethodGet, base+"/0/none%09%09+"))
	if !errors.As(err, &refusal) || !strings.Contains(refusal.Reply, "none") {
		t.Errorf("%v", err)
	}
	l := fetch(t, handler(), base+"/1/odd").Listing
	if body := read(t, fetch(t, handler(), find(t, l, "a?b#c%41 d").URI)); body != "odd\n" {
		t.Errorf("%q", body)
	}
	l = fetch(t, handler(), base+"/1/%09%09$").Listing
	item := find(t, l, "utf8.txt")
	if item.URI != base+"/0/utf8.txt" || item.Type != "text/plain" || item.Note != "What it is about" ||
		item.From != "Tester <tester@example.org>" || item.Modified.IsZero() {
		t.Errorf("%+v", item)
	}
	l = fetch(t, handler(), base+"/0/utf8.txt%09%09!").Listing
	if l.Kind != scheme.KindDescription || l.Title != "utf8.txt" || len(l.Notes) != 1 ||
		l.Properties[0].Value != "Tester <tester@example.org>" {
		t.Errorf("%+v", l)
	}
	r = fetch(t, handler(), find(t, l, "text/plain").URI)
	if body := read(t, r); body != "café\n" || r.Fields.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("%q %+v", body, r)
	}
	l = fetch(t, handler(), base+"/1%09%09+").Listing
	if got := find(t, l, "a.txt"); got.URI != base+"/0/a.txt" {
		t.Errorf("%+v", got)
	}
}

func TestGophernicusPlus(t *testing.T) {
	base := "gopher://" + testserver.StartGophernicus(t, files(t)).Addr()
	if l := fetch(t, handler(), base+"/1%09%09$").Listing; find(t, l, "Main menu").Type != "application/gopher+-menu" {
		t.Errorf("%+v", l)
	}
	if _, err := handler().Fetch(t.Context(), request(t, http.MethodGet, base+"/0/a.txt%09%09!")); !errors.Is(err,
		scheme.ErrInvalidResponse) {
		t.Errorf("a server without Gopher+: %v", err)
	}
}
