package ftp

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/scheme"
)

// statusOf returns the status of a response or refusal; 0 for any other error.
func statusOf(resource *scheme.Resource, err error) int {
	var refused *scheme.StatusError
	switch {
	case errors.As(err, &refused):
		return refused.Status
	case err == nil && resource != nil:
		return resource.Status
	default:
		return 0
	}
}

// TestUnreadable has a directory that can be entered, but not read.
func TestUnreadable(t *testing.T) {
	for name, s := range servers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := tree(t)
			closed := filepath.Join(root, "closed")
			if err := errors.Join(os.Mkdir(closed, 0o711), os.Chmod(closed, 0o711),
				os.WriteFile(filepath.Join(closed, "a"), nil, 0o644)); err != nil {
				t.Fatal(err)
			}
			at, h := "ftp://"+s.login+s.start(t, root).Addr(), handler(t)
			want := http.StatusForbidden
			if name == "pure-ftpd" {
				want = http.StatusNotFound // the server replies the same for a missing directory
			}
			if resource, _, err := get(t, h, at+"/closed/"); statusOf(resource, err) != want {
				t.Errorf("%+v, %v, want %d", resource, err, want)
			}
			if resource, _, err := get(t, h, at+"/closed/a"); statusOf(resource, err) != http.StatusOK {
				t.Errorf("a file in it: %v, %v", resource, err)
			}
		})
	}
}

// TestListReplies has replies to LIST; few mean an empty directory.
func TestListReplies(t *testing.T) {
	for _, c := range []struct {
		list, end  string
		names      []string
		status     int
		incomplete bool
	}{
		{list: "550 No files found", status: 200},
		{list: "450 No files found.", status: 200},
		{list: "550 Directory is empty", status: 200},
		{list: "550 /pub/empty: Permission denied", status: 403},
		{list: "550 No such file or directory", status: 404},
		{list: "550 failed", status: 404},
		{list: "450 busy", status: 503},
		{end: "226 Transfer done (but failed to open directory).", status: 403},
		{end: "226 Transfer done (but failed to open directory).", names: []string{"a"}, status: 200, incomplete: true},
	} {
		f := &fake{replies: map[string]string{}, end: c.end, names: c.names}
		if c.list != "" {
			f.replies["LIST"] = c.list
		}
		h := handler(t, func(c *Config) { c.TLS = TLSNever })
		resource, _, err := get(t, h, "ftp://"+f.start(t)+"/")
		if statusOf(resource, err) != c.status {
			t.Errorf("%s%s: %v, want %d", c.list, c.end, err, c.status)
		}
		if err == nil && (resource.Listing.Incomplete != "") != c.incomplete {
			t.Errorf("%s%s: incomplete is %q", c.list, c.end, resource.Listing.Incomplete)
		}
		if h.pool.Len() != 1 {
			t.Errorf("%s%s: the connection does not wait", c.list, c.end)
		}
	}
}

// TestFull has servers with too many users: no password is requested.
func TestFull(t *testing.T) {
	for _, c := range []struct{ verb, reply string }{
		{"USER", "530 Sorry, the maximum number of clients (50) for this user are already connected."},
		{"PASS", "530-Hello\r\n530 Too many users, try later"},
		{"PASS", "530-There are too many users\r\n530 later"},
		{"CWD", "530 Maximum reached"},
	} {
		f := &fake{replies: map[string]string{c.verb: c.reply}}
		_, _, err := get(t, handler(t, func(c *Config) { c.TLS, c.Limits.Timeout = TLSNever, 500*time.Millisecond }),
			"ftp://"+f.start(t)+"/a/b")
		var refused *scheme.StatusError
		if !errors.As(err, &refused) || refused.Status != http.StatusServiceUnavailable || len(refused.Fields) > 0 {
			t.Errorf("%s: %+v, want 503", c.reply, err)
		}
	}
}

// TestProtectionRefused has a server that encrypts commands, but not data: RFC 4217 section 9.
func TestProtectionRefused(t *testing.T) {
	file, _ := certificate(t)
	pair, err := tls.LoadX509KeyPair(file, file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		login string
		mode  TLS
		ok    bool
	}{
		{"", TLSOffered, true},
		{"anonymous@", TLSOffered, true},
		{"anna:geheim@", TLSOffered, false},
		{"", TLSRequired, false},
	} {
		f := &fake{
			replies: map[string]string{"FEAT": "211-a\r\n AUTH TLS\r\n211 b", "PBSZ": "200 0", "PROT": "534 no"},
			tls:     &tls.Config{Certificates: []tls.Certificate{pair}},
		}
		_, text, err := get(t, handler(t, func(config *Config) { config.TLS = c.mode }),
			"ftp://"+c.login+f.start(t)+"/a.txt")
		if (err == nil) != c.ok || c.ok && text != "0123456789" || strings.Contains(f.sent(), "geheim") {
			t.Errorf("%+v: %q, %v, after %q", c, text, err, f.sent())
		}
	}
}

// TestSecret has servers that repeat the password.
func TestSecret(t *testing.T) {
	for verb, reply := range map[string]string{
		"PASS": "530 no user with geheim", "CWD": "550 geheim", "EPSV": "229 geheim", "RETR": "451 geheim",
		"SIZE": "geheim", "PWD": "550-geheim\r\n550 geheim",
	} {
		f := &fake{replies: map[string]string{verb: reply}}
		_, _, err := get(t, handler(t, func(c *Config) { c.TLS = TLSNever }),
			"ftp://anna:geheim@"+f.start(t)+"/a/b.txt")
		if verb != "PWD" && err == nil || strings.Contains(fmt.Sprintf("%+v", err), "geheim") {
			t.Errorf("%s: %v", verb, err)
		}
	}
	f := &fake{replies: map[string]string{
		"PASS": "230-your password is geheim\r\n230 in", "PWD": `257 "/home/geheim"`,
		"MDTM": "213 20240229131415",
	}}
	at, h := f.start(t), handler(t, func(c *Config) { c.TLS = TLSNever })
	for range 2 {
		resource, _, err := get(t, h, "ftp://anna:geheim@"+at+"/")
		if err != nil || strings.Join(resource.Listing.Notes, "") != "your password is ***" {
			t.Errorf("%+v, %v", resource, err)
		}
	}
	if !strings.Contains(f.sent(), "\nCWD /home/geheim\n") {
		t.Errorf("the directory of the login is not what the server said: %q", f.sent())
	}
	if resource, _, err := get(t, h, "ftp://anna:2024@"+at+"/a.txt"); err != nil ||
		resource.Fields.Get("Last-Modified") == "" {
		t.Errorf("a password that is a part of a number: %v, %v", resource, err)
	}
}
