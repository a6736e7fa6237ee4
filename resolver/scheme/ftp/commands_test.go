package ftp

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// TestCommands checks the commands sent for a URL: RFC 1738 section 3.2.
func TestCommands(t *testing.T) {
	const (
		login = "USER anonymous\nPASS urnd@\nFEAT\nPWD\n"
		file  = "TYPE I\nSIZE motd\nMDTM motd\nEPSV\nRETR motd"
		list  = "TYPE A\nEPSV\nLIST"
	)
	for _, c := range []struct{ section, path, want string }{
		{"3.2.2", "/etc/motd", login + "CWD etc\n" + file},
		{"3.2.2", "/%2Fetc/motd", login + "CWD /etc\n" + file},
		{"3.2.2", "//etc/motd", login + "CWD \nCWD etc\n" + file},
		{"3.2.2", "/a%2Fb//c/motd", login + "CWD a/b\nCWD \nCWD c\n" + file},
		{"3.2.2", "/motd;type=i", login + file},
		{"3.2.2", "/motd;type=a", login + "TYPE A\nMDTM motd\nEPSV\nRETR motd"},
		{"3.2.2", "/etc;type=d", login + "CWD etc\n" + list},
		{"3.2.2", "", login + list},
		{"3.2.2", "/", login + list},
		{"3.2.2", "/etc/", login + "CWD etc\n" + list},
		// RFC 3986 section 6.2.2.3: the normal form, as in links and caches.
		{"3.2.2", "/a/../etc/./motd", login + "CWD etc\n" + file},
		{"3.2.2", "/a/%2e%2E/etc/", login + "CWD etc\n" + list},
		{"3.2.2", "/..", login + list},
		{"3.2.3", "/motd%3Btype=a", login + strings.ReplaceAll(file, "motd", "motd;type=a")},
	} {
		f := &fake{}
		h := handler(t, func(c *Config) { c.TLS = TLSNever })
		if _, _, err := get(t, h, "ftp://"+f.start(t)+c.path); err != nil {
			t.Errorf("%s: %s: %v", c.section, c.path, err)
		}
		if got := f.sent(); got != c.want {
			t.Errorf("section %s: %s sends %q, want %q", c.section, c.path, got, c.want)
		}
	}
}

// TestInjection has bytes that would end a command: nothing is dialed.
func TestInjection(t *testing.T) {
	h := handler(t, func(c *Config) {
		c.Dial = func(context.Context, string, string, func(netip.AddrPort) error) (net.Conn, error) {
			t.Error("a server is dialled")
			return nil, net.ErrClosed
		}
	})
	for _, text := range []string{
		"ftp://a.example/x%0D%0ADELE%20y", "ftp://a.example/x%0A/y", "ftp://a.example/x%00y", "ftp://u%00:p@a.example/",
		"ftp://u:p%0Aq@a.example/", "ftp://u:p%00@a.example/",
	} {
		_, _, err := get(t, h, text)
		var failure *uri.ParseError
		if !errors.As(err, &failure) {
			t.Errorf("%s: %v, want an error of the URI", text, err)
		}
	}
	for _, user := range []string{"u\r\nDELE x:p", "u:p\nDELE x", "u:\x00"} {
		_, _, err := get(t, h, "ftp://a.example/", "Authorization",
			"Basic "+base64.StdEncoding.EncodeToString([]byte(user)))
		if !errors.As(err, new(*uri.ParseError)) {
			t.Errorf("%q: %v", user, err)
		}
	}
}

func TestLogin(t *testing.T) {
	basic := func(text string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(text)) }
	for _, c := range []struct {
		what, userinfo, authorization, want string
		off                                 bool
		replies                             map[string]string
		timeout                             time.Duration
		status                              int // 0 for success
		private                             bool
	}{
		{what: "nobody", want: "USER anonymous\nPASS urnd@\n"},
		{what: "anonymous", userinfo: "anonymous@", want: "USER anonymous\nPASS urnd@\n", private: true},
		{
			what: "anonymous where users are refused", userinfo: "ftp@", off: true, want: "USER anonymous\nPASS urnd@\n",
			private: true,
		},
		{what: "password", userinfo: "anna:ge%40heim@", want: "USER anna\nPASS ge@heim\n", private: true},
		{what: "empty password", userinfo: "anna:@", want: "USER anna\nPASS \n", private: true},
		{what: "no password", userinfo: "an%22na@", want: "USER an\"na", status: 401, private: true},
		{
			what: "no password needed", userinfo: "anna@", replies: map[string]string{"USER": "230 in"},
			want: "USER anna\nFEAT", private: true,
		},
		{
			what: "asked", userinfo: "anna@", authorization: basic("anna:x:y"), want: "USER anna\nPASS x:y\n",
			private: true,
		},
		{
			what: "asked for another", userinfo: "anna@", authorization: basic("otto:x"), want: "USER anna", status: 401,
			private: true,
		},
		{what: "asked without user", authorization: basic("otto:x"), want: "USER otto\nPASS x\n", private: true},
		{
			what: "the URL first", userinfo: "anna:a@", authorization: basic("anna:b"), want: "USER anna\nPASS a\n",
			private: true,
		},
		{what: "another scheme", authorization: "Bearer x", want: "USER anonymous\nPASS urnd@\n", private: true},
		{
			what: "wrong", userinfo: "anna:falsch@", replies: map[string]string{"PASS": "530 wrong"},
			want: "USER anna\nPASS falsch", status: 401, private: true,
		},
		{
			what: "refused user", userinfo: "anna:falsch@", replies: map[string]string{"USER": "530 anonymous only"},
			want: "USER anna", status: 401, private: true,
		},
		{
			what: "no anonymous", replies: map[string]string{"PASS": "530 no"}, want: "USER anonymous\nPASS urnd@",
			status: 401,
		},
		{
			what: "no anonymous, and users are refused", off: true, replies: map[string]string{"PASS": "530 no"},
			want: "USER anonymous\nPASS urnd@", status: 403,
		},
		{
			what: "account", replies: map[string]string{"PASS": "332 account"}, want: "USER anonymous\nPASS urnd@",
			status: 403,
		},
		{
			what: "busy", replies: map[string]string{"greeting": "421 too many"}, timeout: 100 * time.Millisecond,
			want: "", status: 503,
		},
	} {
		t.Run(c.what, func(t *testing.T) {
			f := &fake{replies: c.replies}
			h := handler(t, func(config *Config) {
				config.TLS, config.AllowLogin, config.Limits.Timeout = TLSNever, !c.off,
					cmp.Or(c.timeout, config.Limits.Timeout)
			})
			fields := []string{}
			if c.authorization != "" {
				fields = []string{"Authorization", c.authorization}
			}
			resource, _, err := get(t, h, "ftp://"+c.userinfo+f.start(t)+"/a.txt", fields...)
			if !strings.HasPrefix(f.sent(), c.want) || c.status != 0 && f.sent() != c.want {
				t.Errorf("it sends %q, want %q", f.sent(), c.want)
			}
			header := httpmessage.Fields{}
			if err == nil {
				header = resource.Fields
			}
			var refused *scheme.StatusError
			if errors.As(err, &refused) {
				header = refused.Fields
			}
			if got := header.Get("Cache-Control") == "no-store"; got != c.private {
				t.Errorf("no-store is %v, want %v", got, c.private)
			}
			if c.status != 0 && (refused == nil || refused.Status != c.status) || c.status == 0 && err != nil {
				t.Fatalf("the error is %v, want %d", err, c.status)
			}
			if err != nil && (strings.Contains(err.Error(), "falsch") || strings.Contains(err.Error(), "geheim")) {
				t.Errorf("the error has the password: %v", err)
			}
			challenge := header.Get("Www-Authenticate")
			if c.what == "no password" && challenge != `Basic realm="ftp an%22na@127.0.0.1", charset="UTF-8"` ||
				c.status != 401 && challenge != "" {
				t.Errorf("the challenge is %s", challenge)
			}
		})
	}
}

func TestLoginOff(t *testing.T) {
	h := handler(t, func(c *Config) { c.AllowLogin = false })
	if _, _, err := get(t, h, "ftp://anna:geheim@127.0.0.1/"); !errors.Is(err, scheme.ErrDisabled) ||
		strings.Contains(err.Error(), "geheim") {
		t.Errorf("a user where they are refused: %v", err)
	}
}

// TestData has replies to EPSV and PASV: the data connection goes to the address of the control connection, and
// to no reserved port.
func TestData(t *testing.T) {
	for _, c := range []struct {
		what, epsv, pasv, want string // want is the dialed address; "" for none
	}{
		{"RFC 2428", "229 (|||5001|)", "", "127.0.0.1:5001"},
		{"an address", "229 (|1|192.0.2.1|5001|)", "", "127.0.0.1:5001"},
		{"a foreign address", "500 no", "227 (192,0,2,1,19,137)", "127.0.0.1:5001"},
		{"the metadata of a cloud", "502 no", "227 (169,254,169,254,19,137).", "127.0.0.1:5001"},
		{"RFC 1123 section 4.1.2.6", "500 no", "227 Entering 192,0,2,1,19,137", "127.0.0.1:5001"},
		{"a service by EPSV", "229 (|||25|)", "", ""},
		{"a service by PASV", "500 no", "227 (127,0,0,1,0,25)", ""},
		{"no port", "229 (|||x|)", "", ""},
		{"too great", "229 (|||65537|)", "", ""},
		{"not six", "500 no", "227 (1,2,3,4,5)", ""},
		{"too great by PASV", "500 no", "227 (127,0,0,1,256,1)", ""},
		{"neither", "500 no", "500 no", ""},
	} {
		f := &fake{replies: map[string]string{"EPSV": c.epsv, "PASV": c.pasv}}
		dialled := []string{}
		h := handler(t, func(config *Config) {
			config.TLS = TLSNever
			config.Dial = func(ctx context.Context, network, address string,
				check func(netip.AddrPort) error,
			) (net.Conn, error) {
				if dialled = append(dialled, address); len(dialled) > 1 {
					return nil, net.ErrClosed
				}
				return settings().Dial(ctx, network, address, check)
			}
		})
		address := f.start(t)
		if _, _, err := get(t, h, "ftp://"+address+"/a.txt"); err == nil {
			t.Errorf("%s: there is an answer", c.what)
		}
		if got := strings.Join(dialled[1:], " "); got != c.want {
			t.Errorf("%s: it dials %q, want %q", c.what, got, c.want)
		}
		if strings.Contains(f.sent(), "PORT") || strings.Contains(f.sent(), "EPRT") {
			t.Errorf("%s: active mode", c.what)
		}
	}
}

// TestPassive has servers behind a firewall that opens the port of PASV, but refuses or drops that of EPSV; and
// servers that reject EPSV, or send an invalid reply to it.
func TestPassive(t *testing.T) {
	for what, reply := range map[string]string{
		"refused": "229 here (|||5001|)", "silent": "229 here (|||5001|)", "wrong address family": "522 not for me",
		"no port": "229 Entering Extended Passive Mode", "that of PASV": "229 Entering Passive Mode (127,0,0,1,19,137)",
		"another code": "200 ok",
	} {
		f := &fake{passive: true, replies: map[string]string{"EPSV": reply}}
		h := handler(t, func(c *Config) {
			c.TLS, c.Limits.Timeout = TLSNever, 3*time.Second
			c.Dial = func(ctx context.Context, network, address string,
				check func(netip.AddrPort) error,
			) (net.Conn, error) {
				if !strings.HasSuffix(address, ":5001") {
					return settings().Dial(ctx, network, address, check)
				}
				if what == "silent" {
					<-ctx.Done()
				}
				return nil, net.ErrClosed
			}
		})
		at := "ftp://" + f.start(t)
		for range 2 {
			if _, text, err := get(t, h, at+"/a.txt"); err != nil || text != "0123456789" {
				t.Errorf("%s: %q, %v", what, text, err)
			}
		}
		if got := strings.Count(f.sent(), "EPSV"); got != 1 {
			t.Errorf("%s: EPSV is sent %d times", what, got)
		}
	}
}

// TestFeaturesNotKnown has servers with an unreadable reply to FEAT (RFC 2389): the connection is retried
// without FEAT.
func TestFeaturesNotKnown(t *testing.T) {
	for _, reply := range []string{"", "FEAT: what?", strings.Repeat("211-a\r\n", 2000) + "211 end"} {
		for _, mode := range []TLS{TLSNever, TLSOffered} {
			f := &fake{passive: true, replies: map[string]string{"FEAT": reply}}
			h := handler(t, func(c *Config) { c.TLS = mode })
			if _, text, err := get(t, h, "ftp://"+f.start(t)+"/a.txt"); err != nil || text != "0123456789" {
				t.Errorf("%.20q, TLS %v: %q, %v", reply, mode, text, err)
			}
			if requested := strings.Count(f.sent(), "FEAT"); requested != 1 {
				t.Errorf("%.20q, TLS %v: FEAT is sent %d times", reply, mode, requested)
			}
		}
	}
}

// TestHeadOfDirectory has a directory with a size or a time, as if it were a file: HEAD has the status of GET.
func TestHeadOfDirectory(t *testing.T) {
	for what, replies := range map[string]map[string]string{
		"a size":  {"SIZE": "213 4096", "RETR": "550 not a plain file"},
		"a time":  {"MDTM": "213 20200102030405", "RETR": "550 not a plain file"},
		"neither": {"RETR": "550 not a plain file", "NLST": "550 no files"},
	} {
		f := &fake{replies: replies}
		h := handler(t, func(c *Config) { c.TLS = TLSNever })
		at := "ftp://" + f.start(t)
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			resource, _, err := do(t, h, request(t, method, at+"/pub"))
			if err != nil || resource.Status != http.StatusFound || resource.Fields.Get("Location") != at+"/pub/" {
				t.Errorf("%s: %s is %+v, %v", what, method, resource, err)
			}
		}
	}
}

// TestIncomplete has transfers that end early: none counts as complete.
func TestIncomplete(t *testing.T) {
	for _, c := range []struct {
		what, size, end string
		whole           bool
	}{
		{"whole", "213 10", "", true},
		{"by 250", "213 10", "250 sent", true},
		{"without size", "502 no", "", true},
		{"aborted", "213 10", "426 aborted", false},
		{"aborted without size", "502 no", "426 aborted", false},
		{"failed", "213 10", "451 disk", false},
		{"closed", "213 10", "close", false},
		{"closed without size", "502 no", "close", false},
		{"shorter", "213 11", "", false},
		{"longer", "213 9", "", false},
	} {
		f := &fake{end: c.end, replies: map[string]string{"SIZE": c.size}}
		h := handler(t, func(c *Config) { c.TLS = TLSNever })
		resource, err := h.Fetch(t.Context(), request(t, http.MethodGet, "ftp://"+f.start(t)+"/a.txt"))
		if err == nil {
			_, err = io.ReadAll(resource.Body)
			resource.Body.Close()
		}
		if (err == nil) != c.whole || !c.whole && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", c.what, err)
		}
		if waits := h.pool.Len() == 1; waits != c.whole {
			t.Errorf("%s: the connection waits: %v", c.what, waits)
		}
	}
}

// TestReplies checks the status for each reply: RFC 959 section 4.2.
func TestReplies(t *testing.T) {
	for _, c := range []struct {
		reply  string
		status int // 0 for an error that is not a refusal
	}{
		{"550 no such file", 404},
		{"550 Permission denied.", 403},
		{"550 a: Operation not permitted", 403},
		{"553 not allowed", 403},
		{"532 account", 403},
		{"530 not logged in", 403},
		{"450 busy", 503},
		{"421 closing", 503},
		{"425 no", 502},
		{"451 local", 502},
		{"500 what", 0},
		{"999 what", 0},
		{"x", 0},
		{"350 strange", 0},
		{"", 0},
	} {
		f := &fake{replies: map[string]string{"RETR": c.reply, "CWD": "550 none"}}
		h := handler(t, func(c *Config) { c.TLS = TLSNever })
		_, _, err := get(t, h, "ftp://"+f.start(t)+"/a.txt")
		var refused *scheme.StatusError
		switch {
		case c.status == 0 && (err == nil || errors.As(err, &refused)):
			t.Errorf("%q: %v, want an error that is not a refusal", c.reply, err)
		case err != nil && strings.Contains(err.Error(), "  "):
			t.Errorf("%q: %v", c.reply, err)
		case c.status != 0 && (!errors.As(err, &refused) || refused.Status != c.status):
			t.Errorf("%q: %v, want %d", c.reply, err, c.status)
		}
	}
}

// TestNoRest has a server without REST: the full file is sent.
func TestNoRest(t *testing.T) {
	f := &fake{replies: map[string]string{"SIZE": "213 10", "REST": "502 no"}}
	h := handler(t, func(c *Config) { c.TLS = TLSNever })
	resource, text, err := get(t, h, "ftp://"+f.start(t)+"/a.txt", "Range", "bytes=5-")
	if err != nil || resource.Status != 200 || text != "0123456789" || resource.Fields.Get("Content-Range") != "" {
		t.Errorf("%v, %q, %v", resource, text, err)
	}
}

// TestRestKept: the offset of a rejected transfer must not apply to the next one.
func TestRestKept(t *testing.T) {
	f := &fake{replies: map[string]string{"SIZE": "213 10", "RETR": "550 none"}}
	h := handler(t, func(c *Config) { c.TLS = TLSNever })
	if _, _, err := get(t, h, "ftp://"+f.start(t)+"/a.txt", "Range", "bytes=5-"); statusOf(nil, err) != 404 ||
		h.pool.Len() > 0 {
		t.Errorf("%v, and %d connections wait", err, h.pool.Len())
	}
}

// TestDataPort has denied data ports: the server is asked for others, a limited number of times.
func TestDataPort(t *testing.T) {
	errDenied := errors.New("denied")
	for _, c := range []struct {
		denied int // number of denied ports, from the first
		ok     bool
	}{{0, true}, {2, true}, {3, false}} {
		f := &fake{}
		requested := 0
		h := handler(t, func(config *Config) {
			config.TLS = TLSNever
			config.DataPort = func(uint16) error {
				if requested++; requested <= c.denied {
					return errDenied
				}
				return nil
			}
		})
		_, _, err := get(t, h, "ftp://"+f.start(t)+"/a.txt")
		if (err == nil) != c.ok || !c.ok && !errors.Is(err, errDenied) || requested != min(c.denied+1, 3) ||
			strings.Count(f.sent(), "EPSV") != requested {
			t.Errorf("%d ports denied: %v, after %q", c.denied, err, f.sent())
		}
	}
}

// TestTLSRefused has servers that violate RFC 4217.
func TestTLSRefused(t *testing.T) {
	for _, c := range []struct {
		what    string
		mode    TLS
		replies map[string]string
		sent    string // last command
	}{
		{"required", TLSRequired, nil, "AUTH TLS"},
		{
			"a reply before the encryption", TLSOffered,
			map[string]string{"FEAT": "211-a\r\n AUTH TLS\r\n211 b", "AUTH": "234 go\r\n230 in"},
			"AUTH TLS",
		},
	} {
		f := &fake{replies: c.replies}
		h := handler(t, func(config *Config) { config.TLS = c.mode })
		if _, _, err := get(t, h, "ftp://anna:geheim@"+f.start(t)+"/"); err == nil ||
			!strings.HasSuffix(f.sent(), c.sent) {
			t.Errorf("%s: %v, after %q", c.what, err, f.sent())
		}
	}
	f := &fake{replies: map[string]string{"FEAT": "211-a\r\n AUTH TLS\r\n211 b", "AUTH": "431 not now"}}
	if _, _, err := get(t, handler(t), "ftp://"+f.start(t)+"/"); err != nil {
		t.Errorf("offered, but not given: %v", err)
	}
}

// TestNotes checks the texts of servers about a directory, and the links to parents.
func TestNotes(t *testing.T) {
	f := &fake{replies: map[string]string{
		"PASS": "230-Welcome\x1b\r\n230-\r\n230 in", "CWD": "250-This is\r\n old\r\n250 done", "LIST": "550 no files",
	}}
	at := "ftp://" + f.start(t)
	h := handler(t, func(c *Config) { c.TLS = TLSNever })
	for _, c := range []struct{ path, title, parent, notes string }{
		{"", "/", "", "Welcome\ufffd"},
		{"/", "/", "", "Welcome\ufffd"},
		{"/a/", "/a", at + "/", "This is|old"},
		{"/a/b%20c/", "/a/b c", at + "/a/", "This is|old"},
		{"/a/b%20c;type=d", "/a/b c", at + "/a/", "This is|old"},
		{"/%2F/", "/", "", "This is|old"},
		{"/%2Fetc/", "/etc", at + "/%2F/", "This is|old"},
		{"/%2Fetc/x%2Fy/", "/etc/x/y", at + "/%2Fetc/x/", "This is|old"},
		{"//", "/", "", "This is|old"},
		{"//etc/", "/etc", at + "//", "This is|old"},
	} {
		resource, _, err := get(t, h, at+c.path)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		l, parent := resource.Listing, ""
		if l.Parent != nil {
			parent = l.Parent.URI
		}
		if l.Title != c.title || parent != c.parent || strings.Join(l.Notes, "|") != c.notes {
			t.Errorf("%s: title %q, parent %q, notes %q; want %+v", c.path, l.Title, parent, l.Notes, c)
		}
		if want := strings.TrimSuffix(at+strings.TrimSuffix(c.path, ";type=d"), "/") + "/"; l.URI != want {
			t.Errorf("%s: URI %q, want %q", c.path, l.URI, want)
		}
	}
}
