package ftp

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/scheme"
)

// TestValidators checks the validators of a file: RFC 9110 section 8.8.1. The clock is 2026-11-22 12:00:00.
func TestValidators(t *testing.T) {
	for _, c := range []struct {
		what, size, mdtm string
		etag             string // start of the tag, "" for none
		modified         bool
	}{
		{"both", "213 10", "213 20261122115900", `"`, true},
		{"no time", "213 10", "502 no", "", false},
		{"a time that cannot be read", "213 10", "213 yesterday", "", false},
		{"no size", "502 no", "213 20261122115900", `W/"`, true},
		{"neither", "502 no", "502 no", "", false},
		{"young", "213 10", "213 20261122115901", `W/"`, false},
		{"of this second", "213 10", "213 20261122120000", `W/"`, false},
		{"to come", "213 10", "213 20261122130000", `W/"`, false},
	} {
		f := &fake{replies: map[string]string{"SIZE": c.size, "MDTM": c.mdtm}}
		at, h := "ftp://"+f.start(t)+"/a.txt", handler(t, func(c *Config) { c.TLS = TLSNever })
		resource, _, err := get(t, h, at)
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		etag, modified := resource.Fields.Get("Etag"), resource.Fields.Get("Last-Modified")
		if (etag == "") != (c.etag == "") || !strings.HasPrefix(etag, c.etag) || (modified != "") != c.modified {
			t.Errorf("%s: ETag %s, Last-Modified %q; want %+v", c.what, etag, modified, c)
		}
		if c.etag == `"` || etag == "" {
			continue
		}
		for _, validator := range []string{etag, "Sun, 22 Nov 2026 12:00:00 GMT"} {
			resource, _, err := get(t, h, at, "Range", "bytes=5-", "If-Range", validator)
			if err != nil || resource.Status != http.StatusOK {
				t.Errorf("%s: If-Range: %s is %v, %v; want all", c.what, validator, resource, err)
			}
		}
		// A recently changed file may have changed again within the same second: it is fetched again later.
		later := handler(t, func(config *Config) {
			config.TLS, config.Now = TLSNever, func() time.Time { return settings().Now().Add(24 * time.Hour) }
		})
		resource, _, err = get(t, later, at, "If-None-Match", etag)
		if old := c.modified; err != nil || (resource.Status == http.StatusNotModified) != old {
			t.Errorf("%s: a day later: %v, %v", c.what, resource, err)
		}
	}
}

// TestMissing sends HEAD for existing and missing names, to servers without metadata.
func TestMissing(t *testing.T) {
	for _, c := range []struct {
		what, path string
		replies    map[string]string
		names      string
		status     int
	}{
		{"text", "/a.txt;type=a", map[string]string{"MDTM": "550 none"}, "", 404},
		{"text that is there", "/a.txt;type=a", map[string]string{"MDTM": "213 20240229131415"}, "", 200},
		{"no SIZE", "/a.txt", map[string]string{"MDTM": "550 none", "CWD a.txt": "550 none"}, "", 404},
		{
			"no SIZE, and a directory", "/a.txt",
			map[string]string{"MDTM": "550 no plain file", "CWD a.txt": "250 done"},
			"", 302,
		},
		{"a size, but no time", "/a.txt", map[string]string{"SIZE": "213 1", "MDTM": "550 none"}, "", 200},
		{"neither, listed", "/a.txt", nil, "b\r\na.txt\r\n", 200},
		{"neither, listed in another case", "/A.txt", nil, "a.TXT\r\n", 200},
		{"neither, not listed", "/a.txt", map[string]string{"CWD a.txt": "550 none"}, "b\r\n", 404},
		{"neither, not listed, and a directory", "/a.txt", map[string]string{"CWD a.txt": "250 done"}, "b\r\n", 302},
		{"neither, empty", "/a.txt;type=a", map[string]string{"NLST": "550 No files found"}, "", 404},
		{"neither, nor names", "/a.txt", map[string]string{"NLST": "550 denied"}, "", 200},
		{"neither, nor NLST", "/a.txt", map[string]string{"NLST": "502 no"}, "", 200},
		{"neither, paths", "/a.txt", nil, "/x/a.txt\r\n", 200},
		{"neither, hidden", "/.a", nil, "b\r\n", 200},
	} {
		f := &fake{replies: c.replies, data: map[string]string{"NLST": c.names}}
		resource, _, err := do(t, handler(t, func(c *Config) { c.TLS = TLSNever }),
			request(t, http.MethodHead, "ftp://"+f.start(t)+c.path))
		var status int
		var refused *scheme.StatusError
		if errors.As(err, &refused) {
			status = refused.Status
		} else if err == nil {
			status = resource.Status
		}
		if status != c.status {
			t.Errorf("%s: %d, %v; want %d", c.what, status, err, c.status)
		}
	}
}
