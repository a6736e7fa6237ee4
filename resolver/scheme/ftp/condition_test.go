package ftp

import (
	"io"
	"strings"
	"testing"
)

// TestPreconditions: preconditions are evaluated before the transfer if size or time are known, otherwise after
// the transfer has started: RFC 9110 section 13.2.1 ignores them for a file that does not exist.
func TestPreconditions(t *testing.T) {
	known := map[string]string{"SIZE": "213 5", "MDTM": "213 19941106084937"}
	for _, c := range []struct {
		section string
		replies map[string]string
		field   string
		value   string
		status  int // 0 for a refusal
	}{
		{"13.1.1", known, "If-Match", `"x"`, 412},
		{"13.1.1", known, "If-Match", `*`, 200},
		{"13.1.4", known, "If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:36 GMT", 412},
		{"13.1.4", known, "If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:37 GMT", 200},
		{"13.1.1: no tag", nil, "If-Match", `"x"`, 412},
		{"13.1.1: any", nil, "If-Match", `*`, 200},
		{"13.1.2: any", nil, "If-None-Match", `*`, 304},
		{"13.1.2: no tag", nil, "If-None-Match", `"x"`, 200},
		{"13.2.1", map[string]string{"RETR": "550 none", "CWD": "550 none"}, "If-None-Match", `*`, 0},
		{"13.2.1", map[string]string{"RETR": "550 none", "CWD": "550 none"}, "If-Match", `"x"`, 0},
	} {
		f := &fake{replies: c.replies, body: func() io.Reader { return strings.NewReader("hello") }}
		h := handler(t, func(c *Config) { c.TLS = TLSNever })
		url := "ftp://" + f.start(t) + "/motd"
		resource, text, err := get(t, h, url, c.field, c.value)
		switch {
		case c.status == 0:
			if err == nil {
				t.Errorf("section %s: %s: %s: %+v", c.section, c.field, c.value, resource)
			}
		case err != nil || resource.Status != c.status || (text == "hello") != (c.status == 200):
			t.Errorf("section %s: %s: %s: %+v, %q, %v", c.section, c.field, c.value, resource, text, err)
		case c.replies != nil && c.status != 200 && strings.Contains(f.sent(), "RETR"):
			t.Errorf("section %s: %s", c.section, f.sent())
		}
		if _, text, err := get(t, h, url); c.status != 0 && (err != nil || text != "hello") {
			t.Errorf("section %s: the request after it: %q, %v", c.section, text, err)
		}
	}
}
