package file_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/scheme/file"
	"github.com/urnd/urnd/uri"
)

func TestRanges(t *testing.T) {
	dir := tree(t)
	h, url := handler(dir+"/pub"), "file://"+dir+"/pub/a.txt"
	whole, err := get(t, h, url)
	must(t, err)
	etag, modified := whole.Fields.Get("Etag"), whole.Fields.Get("Last-Modified")
	for _, c := range []struct {
		section string
		header  []string
		status  int
		body    string
		part    string // Content-Range
	}{
		{"RFC 9110 section 14.1.2", []string{"Range", "bytes=2-4"}, 206, "234", "bytes 2-4/10"},
		{"section 14.1.2: from", []string{"Range", "bytes=7-"}, 206, "789", "bytes 7-9/10"},
		{"section 14.1.2: the last", []string{"Range", "bytes=-2"}, 206, "89", "bytes 8-9/10"},
		{"section 14.1.2: longer than all", []string{"Range", "bytes=-20"}, 206, "0123456789", "bytes 0-9/10"},
		{"section 14.4", []string{"Range", "bytes=10-"}, 416, "", "bytes */10"},
		{"section 14.2: several may be ignored", []string{"Range", "bytes=0-1,3-4"}, 200, "0123456789", ""},
		{"section 13.1.5", []string{"Range", "bytes=2-4", "If-Range", etag}, 206, "234", "bytes 2-4/10"},
		{"section 13.1.5: a date", []string{"Range", "bytes=2-4", "If-Range", modified}, 206, "234", "bytes 2-4/10"},
		{"section 13.1.5: another", []string{"Range", "bytes=2-4", "If-Range", `"x"`}, 200, "0123456789", ""},
		{"section 13.1.2", []string{"If-None-Match", `"x", W/` + etag}, 304, "", ""},
		{
			"section 13.1.2: another",
			[]string{"If-None-Match", `"x"`, "If-Modified-Since", modified},
			200,
			"0123456789", "",
		},
		{"section 13.1.3", []string{"If-Modified-Since", modified}, 304, "", ""},
		{"section 13.1.1", []string{"If-Match", etag}, 200, "0123456789", ""},
		{"section 13.1.1: another", []string{"If-Match", `"x"`, "Range", "bytes=2-4"}, 412, "", ""},
		{
			"section 13.1.1: any, and a part",
			[]string{"If-Match", `*`, "Range", "bytes=2-4"},
			206, "234",
			"bytes 2-4/10",
		},
		{"section 13.1.4", []string{"If-Unmodified-Since", modified}, 200, "0123456789", ""},
		{
			"section 13.1.4: changed since",
			[]string{"If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"},
			412,
			"", "",
		},
		{"section 13.2.2: before Range", []string{"If-None-Match", etag, "Range", "bytes=2-4"}, 304, "", ""},
	} {
		t.Run(c.section, func(t *testing.T) {
			resource, err := get(t, h, url, c.header...)
			must(t, err)
			body, err := io.ReadAll(resource.Body)
			must(t, err)
			if resource.Status != c.status || string(body) != c.body ||
				resource.Fields.Get("Content-Range") != c.part || resource.Fields.Get("Etag") != etag {
				t.Errorf("%d %v %q", resource.Status, resource.Fields, body)
			}
		})
	}
}

// TestUnsettled: a file changed just now may change again within the same clock tick (RFC 9110 section 8.8.1).
func TestUnsettled(t *testing.T) {
	dir := tree(t)
	for _, now := range []func() time.Time{time.Now, func() time.Time { return time.Unix(0, 0) }} {
		h := file.New(file.Config{Roots: []string{dir}, Now: now})
		resource, err := get(t, h, "file://"+dir+"/secret", "Range", "bytes=1-")
		must(t, err)
		etag := resource.Fields.Get("Etag")
		if !strings.HasPrefix(etag, `W/"`) || resource.Fields.Get("Last-Modified") != "" || resource.Status != 206 {
			t.Errorf("%d %v", resource.Status, resource.Fields)
		}
		if resource, err := get(t, h, "file://"+dir+"/secret", "Range", "bytes=1-", "If-Range", etag); err != nil ||
			resource.Status != 200 {
			t.Errorf("a weak tag: %+v, %v", resource, err)
		}
		if resource, err := get(t, h, "file://"+dir+"/secret", "If-None-Match", etag); err != nil ||
			resource.Status != 304 {
			t.Errorf("If-None-Match compares weakly: %+v, %v", resource, err)
		}
	}
}

// TestEntityTagChanges requires that the tag changes with the content, even if size and time are set back.
func TestEntityTagChanges(t *testing.T) {
	dir := tree(t)
	h, name := handler(dir+"/pub"), dir+"/pub/a.txt"
	info, err := os.Stat(name)
	must(t, err)
	seen := map[string]bool{}
	for _, change := range []func() error{
		func() error { return nil },
		func() error { return os.WriteFile(name, []byte("9876543210"), 0o644) },
		func() error { return os.WriteFile(name, []byte("987654321"), 0o644) },
		func() error { // another inode, as by rsync -t and cp -p
			if err := os.WriteFile(name+".new", []byte("987654321"), 0o644); err != nil {
				return err
			}
			return os.Rename(name+".new", name)
		},
	} {
		must(t, change())
		must(t, os.Chtimes(name, info.ModTime(), info.ModTime()))
		resource, err := get(t, h, "file://"+name)
		must(t, err)
		seen[resource.Fields.Get("Etag")] = true
	}
	if len(seen) != 4 {
		t.Errorf("%d tags for 4 versions: %v", len(seen), seen)
	}
}

// TestChangedWhileSent: a file that shrinks while it is sent is an error; one that grows ends at its announced
// length.
func TestChangedWhileSent(t *testing.T) {
	dir := tree(t)
	name := dir + "/pub/big"
	must(t, os.WriteFile(name, make([]byte, 1<<20), 0o644))
	for _, c := range []struct {
		size, got int64
		err       error
	}{{1000, 1000, io.ErrUnexpectedEOF}, {0, 100, io.ErrUnexpectedEOF}, {2 << 20, 1 << 20, nil}} {
		must(t, os.Truncate(name, 1<<20))
		resource, err := get(t, handler(dir+"/pub"), "file://"+name)
		must(t, err)
		_, err = io.CopyN(io.Discard, resource.Body, 100)
		must(t, err)
		must(t, os.Truncate(name, c.size))
		n, err := io.Copy(io.Discard, resource.Body)
		if !errors.Is(err, c.err) || n+100 != c.got {
			t.Errorf("%d bytes, %v; want %d, %v", n+100, err, c.got, c.err)
		}
	}
}

func TestCancellation(t *testing.T) {
	dir := tree(t)
	u, err := uri.Parse("file://" + dir + "/pub/a.txt")
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	resource, err := handler(dir+"/pub").Fetch(ctx,
		scheme.Request{Request: httpmessage.Request{Method: http.MethodGet, URI: u}})
	must(t, err)
	defer resource.Body.Close()
	if _, err := resource.Body.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := resource.Body.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestLargeFile requires that a file of 1 GiB neither grows the heap nor leaks a descriptor.
func TestLargeFile(t *testing.T) {
	const size = 1 << 30
	dir := tree(t)
	name := dir + "/pub/large.iso"
	must(t, os.WriteFile(name, nil, 0o644))
	must(t, os.Truncate(name, size)) // a sparse file
	buffer := make([]byte, 1<<20)
	before, descriptors := heap(), openFiles(t)
	resource, err := get(t, handler(dir+"/pub"), "file://"+name)
	must(t, err)
	const part = 128 << 20 // all of it takes long with the race detector
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, io.LimitReader(resource.Body, part), buffer)
	if n != part || resource.ContentLength != size || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if grown := heap() - before; grown > part/100 {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
	resource.Body.Close()
	if now := openFiles(t); now > descriptors {
		t.Errorf("%d descriptors, %d before", now, descriptors)
	}
}

// TestDescriptors requires that each response without a body closes its file immediately.
func TestDescriptors(t *testing.T) {
	dir := tree(t)
	h, before := handler(dir+"/pub"), openFiles(t)
	for _, url := range []string{
		"/pub/a.txt", "/pub/none", "/pub/", "/pub", "/pub/a.txt/", "/pub/missing", "/pub/pipe",
		"/pub/outside",
	} {
		resource, err := fetch(t, h, http.MethodHead, "file://"+dir+url)
		if now := openFiles(t); now > before {
			t.Errorf("%s: %d descriptors, %d before (%+v, %v)", url, now, before, resource, err)
		}
	}
	for _, header := range [][]string{{"Range", "bytes=99-"}, {"If-None-Match", "*"}, {"If-Match", `"x"`}} {
		_, err := get(t, h, "file://"+dir+"/pub/a.txt", header...)
		if now := openFiles(t); now > before || err != nil {
			t.Errorf("%v: %d descriptors, %d before, %v", header, now, before, err)
		}
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse)
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(entries)
}
