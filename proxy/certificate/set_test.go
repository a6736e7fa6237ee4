package certificate_test

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/certificate"
)

// issue writes a certificate for hosts, and returns its files.
func issue(t testing.TB, ca *testserver.Authority, valid time.Duration, hosts ...string) certificate.Files {
	t.Helper()
	dir := t.TempDir()
	f := certificate.Files{
		Setting: "tls " + hosts[0], Certificate: filepath.Join(dir, "cert.pem"),
		Key: filepath.Join(dir, "key.pem"),
	}
	reissue(t, ca, f, valid, hosts...)
	return f
}

// reissue replaces a certificate in its files.
func reissue(t testing.TB, ca *testserver.Authority, f certificate.Files, valid time.Duration, hosts ...string) {
	t.Helper()
	made, key := ca.Issue(valid, hosts...)
	for path, content := range map[string][]byte{f.Certificate: made, f.Key: key} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// named returns the names of the certificate for a client that requests a host.
func named(t testing.TB, set *certificate.Set, host string) string {
	t.Helper()
	found, err := set.Get(&tls.ClientHelloInfo{ServerName: host})
	if err != nil {
		return err.Error()
	}
	return strings.Join(found.Leaf.DNSNames, " ")
}

// raw returns the certificate for a client without SNI.
func raw(t testing.TB, set *certificate.Set) []byte {
	t.Helper()
	found, err := set.Get(new(tls.ClientHelloInfo))
	if err != nil {
		t.Fatal(err)
	}
	return found.Certificate[0]
}

// TestSet requires the best match for a name: RFC 6066 section 3, RFC 9525 section 6.3.
func TestSet(t *testing.T) {
	ca := testserver.NewAuthority(t)
	files := []certificate.Files{
		issue(t, ca, time.Hour, "first.test", "also.first.test"),
		issue(t, ca, time.Hour, "*.b.test"),
		issue(t, ca, time.Hour, "www.b.test"),
		issue(t, ca, time.Hour, "B.test", "*.c.test"),
	}
	set, err := certificate.NewSet(files, nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		host, want string
		covered    bool
	}{
		{"first.test", "first.test also.first.test", true},
		{"ALSO.first.test.", "first.test also.first.test", true},
		{"", "first.test also.first.test", false},
		{"other.test", "first.test also.first.test", false},
		{"www.b.test", "www.b.test", true},
		{"x.b.test", "*.b.test", true},
		{"x.y.b.test", "first.test also.first.test", false}, // a wildcard matches one label
		{"b.test", "B.test *.c.test", true},
		{"c.test", "first.test also.first.test", false}, // a wildcard matches at least one label
		{"z.c.test", "B.test *.c.test", true},
		{"test", "first.test also.first.test", false},
	} {
		if got := named(t, set, tt.host); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.host, got, tt.want)
		}
		if got := set.Covers(tt.host); got != tt.covered {
			t.Errorf("%q: covered %t", tt.host, got)
		}
	}
	if got := set.Uncovered([]string{"b.test", "d.test", "x.b.test"}); len(got) != 1 || got[0] != "d.test" {
		t.Errorf("without a certificate: %q", got)
	}
}

// TestSetReload: replaced files are reloaded. An invalid file leaves the previous certificate in use, and the
// error names it.
func TestSetReload(t *testing.T) {
	ca := testserver.NewAuthority(t)
	now := time.Now()
	a, b := issue(t, ca, time.Hour, "a.test"), issue(t, ca, time.Hour, "b.test")
	set, err := certificate.NewSet([]certificate.Files{a, b}, nil, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	reissue(t, ca, b, time.Hour, "new.test", "b.test")
	if err := os.WriteFile(a.Key, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := named(t, set, "new.test"); got != "a.test" {
		t.Errorf("within a second: %q", got)
	}
	now = now.Add(time.Second)
	if got := named(t, set, "new.test"); got != "new.test b.test" {
		t.Errorf("a second later: %q", got)
	}
	if got := named(t, set, "a.test"); got != "a.test" {
		t.Errorf("with half a key: %q", got)
	}
	if err := set.Check(); err == nil || !strings.Contains(err.Error(), "tls a.test: ") ||
		strings.Contains(err.Error(), "b.test") {
		t.Errorf("the fault is %v", err)
	}
	if got := len(set.Leaves()); got != 2 {
		t.Errorf("%d leaves", got)
	}
}

func TestSetInvalid(t *testing.T) {
	_, err := certificate.NewSet([]certificate.Files{{
		Setting: "tls.certificate and tls.key", Certificate: "/nowhere",
		Key: "/nowhere",
	}}, nil, time.Now)
	if err == nil || !strings.HasPrefix(err.Error(), "tls.certificate and tls.key: open /nowhere") {
		t.Errorf("got %v", err)
	}
}

func BenchmarkGet(b *testing.B) {
	ca := testserver.NewAuthority(b)
	set, err := certificate.NewSet([]certificate.Files{
		issue(b, ca, time.Hour, "a.test"),
		issue(b, ca, time.Hour, "*.b.test"),
	}, nil, time.Now)
	if err != nil {
		b.Fatal(err)
	}
	hello := &tls.ClientHelloInfo{ServerName: "www.b.test"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := set.Get(hello); err != nil {
			b.Fatal(err)
		}
	}
}
