package file_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/scheme/file"
	"github.com/urnd/urnd/uri"
)

// lines formats a listing: kind, name, URI below dir, and size, type and note if set.
func lines(l *scheme.Listing, dir string) string {
	var b strings.Builder
	for _, i := range l.Items {
		fmt.Fprintf(&b, "%s %q %s", i.Kind, i.Name, strings.TrimPrefix(i.URI, "file://"+dir))
		if i.Size != nil {
			fmt.Fprintf(&b, " %d", *i.Size)
		}
		fmt.Fprintf(&b, " %s%s\n", i.Type, i.Note)
	}
	return b.String()
}

const noWay = "dangling link, or link to outside of the served directory"

func TestListing(t *testing.T) {
	dir := tree(t)
	must(t, os.WriteFile(dir+"/pub/doc/evil\r\n<b>\u202e", nil, 0o644))
	h := handler(dir + "/pub")
	for _, c := range []struct{ url, title, want string }{
		{"/pub/", "/pub", `directory "doc" /pub/doc/ ` + `
directory "empty" /pub/empty/ ` + `
directory "indir" /pub/indir/ ` + `
file "a.txt" /pub/a.txt 10 text/plain
link "absolute"  ` + noWay + `
link "absoluteinside"  ` + noWay + `
file "b c%#?;é.html" /pub/b%20c%25%23%3F%3B%C3%A9.html 6 text/html
file "back\\slash" /pub/back%5Cslash 1 ` + `
link "broken"  ` + noWay + `
file "inside" /pub/inside 8 ` + `
link "loop"  ` + noWay + `
file "none" /pub/none 0 ` + `
link "outdir"  ` + noWay + `
link "outside"  ` + noWay + `
other "pipe"  device, pipe or socket
other "pipelink"  device, pipe or socket
other "socket"  device, pipe or socket
`},
		{"/pub/doc/", "/pub/doc", `directory "deep" /pub/doc/deep/ ` + `
file "evil��<b>�" /pub/doc/evil%0D%0A%3Cb%3E%E2%80%AE 0 ` + `
file "up" /pub/doc/up 10 ` + `
file "x" /pub/doc/x 8 ` + `
`},
		{"/pub/empty/", "/pub/empty", ""},
		{"/", "", "directory \"DIR/pub\" /pub/ \n"},
	} {
		t.Run(c.url, func(t *testing.T) {
			resource, err := get(t, h, "file://"+dir+c.url)
			must(t, err)
			l := resource.Listing
			if l == nil || resource.Status != 200 || resource.Fields.Get("Cache-Control") != "private, no-cache" {
				t.Fatalf("%+v", resource)
			}
			if got := strings.ReplaceAll(lines(l, dir), dir, "DIR"); got != c.want {
				t.Errorf("%s\nwant\n%s", got, c.want)
			}
			if l.Title != dir+c.title || l.URI != "file://"+dir+c.url || l.Kind != scheme.KindDirectory ||
				l.Incomplete != "" {
				t.Errorf("%+v", l)
			}
			for _, item := range l.Items {
				if item.URI == "" {
					continue
				}
				if u, err := uri.Parse(item.URI); err != nil || u.Normalize() != u || u.Check() != nil {
					t.Errorf("%s: %v", item.URI, err)
				}
				if resource, err := get(t, h, item.URI); err != nil || resource.Status != 200 {
					t.Errorf("%s: %+v, %v", item.URI, resource, err)
				}
			}
		})
	}
}

func TestParents(t *testing.T) {
	dir := tree(t)
	one, two := handler(dir+"/pub"), handler(dir+"/pub", dir+"/other")
	for _, c := range []struct {
		h           scheme.Handler
		url, parent string
	}{
		{one, dir + "/pub/doc/deep/", "file://" + dir + "/pub/doc/"},
		{one, dir + "/pub/doc/", "file://" + dir + "/pub/"},
		{one, dir + "/pub/", ""},
		{two, dir + "/pub/", "file:///"},
		{two, "/", ""},
		{two, dir + "/", ""},
		{handler("/"), "/", ""},
		{handler("/"), "/usr/", "file:///"},
		{handler("/", dir), "/usr/", "file:///"},
		{handler("/", dir), "/", ""},
	} {
		resource, err := get(t, c.h, "file://"+c.url)
		must(t, err)
		if l := resource.Listing; l == nil || (l.Parent == nil) != (c.parent == "") ||
			l.Parent != nil && l.Parent.URI != c.parent {
			t.Errorf("%s: %+v", c.url, resource.Listing)
		}
	}
	resource, err := get(t, two, "file:///")
	must(t, err)
	if got, want := lines(resource.Listing, ""), fmt.Sprintf("directory %q %[2]s/ \ndirectory %[3]q %[4]s/ \n",
		dir+"/other", dir+"/other", dir+"/pub",
		dir+"/pub"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestRedirects requires that the URL of a directory without trailing slash redirects to the one with it.
func TestRedirects(t *testing.T) {
	dir := tree(t)
	h := handler(dir + "/pub")
	for from, to := range map[string]string{
		dir + "/pub": dir + "/pub/", dir: dir + "/", dir + "/pub/doc": dir + "/pub/doc/",
		dir + "/pub/indir": dir + "/pub/indir/",
	} {
		resource, err := get(t, h, "file://localhost"+from)
		if err != nil || resource.Status != http.StatusMovedPermanently ||
			resource.Fields.Get("Location") != "file://"+to ||
			resource.Fields.Get("Cache-Control") != "private, no-cache" {
			t.Errorf("%s: %+v, %v", from, resource, err)
		}
	}
}

func TestListingLimits(t *testing.T) {
	dir := t.TempDir()
	for i := range 600 {
		must(t, os.WriteFile(fmt.Sprintf("%s/%08d", dir, i), nil, 0o644))
	}
	for _, c := range []struct {
		limits scheme.Limits
		items  int
	}{
		{scheme.Limits{Timeout: 1 << 40, Entries: 600, Bytes: 1 << 20}, 600},
		{scheme.Limits{Timeout: 1 << 40, Entries: 599, Bytes: 1 << 20}, 599},
		{scheme.Limits{Timeout: 1 << 40, Entries: 1000, Bytes: 88}, 11},
	} {
		resource, err := get(t, file.New(file.Config{Roots: []string{dir}, Limits: c.limits, Now: later}),
			"file://"+dir+"/")
		must(t, err)
		if l := resource.Listing; len(l.Items) != c.items || (l.Incomplete == "") != (c.items == 600) {
			t.Errorf("%d items, %q", len(l.Items), l.Incomplete)
		}
	}
	if _, err := get(t,
		file.New(file.Config{Roots: []string{dir}, Limits: scheme.Limits{Entries: 1, Bytes: 1}, Now: later}),
		"file://"+dir+"/"); err == nil {
		t.Error("a listing that took too long")
	}
}
