package helper_test

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/gate/helper"
)

// squids returns the path of a helper program of Debian's Squid.
func squids(t *testing.T, name string) string {
	t.Helper()
	return testserver.Need(t, "/usr/lib/squid/"+name)
}

// checks verifies a password.
func checks(t *testing.T, b *helper.Basic, name, password string, want helper.Result) {
	t.Helper()
	if a, err := b.Check(t.Context(), alice, name, password); err != nil || a.Result != want {
		t.Errorf("%s:%s: %+v, %v, want %v", name, password, a, err, want)
	}
}

func TestBasicLDAP(t *testing.T) {
	program := squids(t, "basic_ldap_auth")
	ldap := testserver.StartSLAPD(t, map[string]string{"alice": "it is a secret%20", "bob": "other"}, nil)
	command := []string{program, "-v", "3", "-b", testserver.LDAPBase, "-f", "(uid=%s)"}
	for name, options := range map[string][]string{"for each question": nil, "persistent": {"-P"}} {
		t.Run(name, func(t *testing.T) {
			pool, _ := open(t, helper.Config{
				Processes: 2,
				Command:   slices.Concat(command, options, []string{"-H", ldap.URL()}),
			})
			b, err := helper.NewBasic(pool, helper.CacheConfig{TTL: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(b.Close)
			for range 2 {
				checks(t, b, "alice", "it is a secret%20", helper.OK)
				checks(t, b, "bob", "other", helper.OK)
				checks(t, b, "alice", "other", helper.ERR)
				checks(t, b, "alice", "it is a secret ", helper.ERR)
				checks(t, b, "carol", "other", helper.ERR)
				checks(t, b, "*", "other", helper.ERR)
				checks(t, b, "bob)(uid=*", "other", helper.ERR)
			}
			if s := pool.Status(); s.Restarts != 0 || s.Failed != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
	t.Run("without its server", func(t *testing.T) {
		pool, _ := open(t, helper.Config{
			Processes: 1,
			Command:   slices.Concat(command, []string{"-P", "-H", "ldap://127.0.0.1:1/"}),
		})
		b, err := helper.NewBasic(pool, helper.CacheConfig{TTL: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Close)
		if a, err := b.Check(t.Context(), alice, "alice", "it is a secret%20"); !errors.Is(err, helper.ErrBroken) ||
			!strings.Contains(err.Error(), "Can't contact LDAP server") {
			t.Errorf("%+v, %v", a, err)
		}
	})
}

func TestBasicNCSA(t *testing.T) {
	program := squids(t, "basic_ncsa_auth")
	file := filepath.Join(t.TempDir(), "users")
	const users = "alice:$apr1$abcdefgh$ALICE\n"
	hash, err := exec.CommandContext(t.Context(), testserver.Need(t, "openssl"), "passwd", "-apr1", "-salt", "abcdefgh",
		"rät sel").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(users, "$apr1$abcdefgh$ALICE\n", string(hash), 1)),
		0o600); err != nil {
		t.Fatal(err)
	}
	pool, _ := open(t, helper.Config{Processes: 1, Command: []string{program, file}})
	b, err := helper.NewBasic(pool, helper.CacheConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	checks(t, b, "alice", "rät sel", helper.OK)
	checks(t, b, "alice", "rat sel", helper.ERR)
	checks(t, b, "bob", "rät sel", helper.ERR)
}

// looksUp queries an external ACL.
func looksUp(t *testing.T, e *helper.External, want helper.Result, values ...string) {
	t.Helper()
	if a, err := e.Lookup(t.Context(), values...); err != nil || a.Result != want {
		t.Errorf("%q: %+v, %v, want %v", values, a, err, want)
	}
}

func TestGroupLDAP(t *testing.T) {
	program := squids(t, "ext_ldap_group_acl")
	ldap := testserver.StartSLAPD(t, map[string]string{"alice": "a", "bob": "b"},
		map[string][]string{"staff": {"alice", "bob"}, "the board": {"alice"}})
	e, pool := external(t, helper.Config{Processes: 1, Command: []string{
		program, "-v", "3", "-b", testserver.LDAPBase, "-B", testserver.LDAPBase, "-F", "(uid=%s)", "-f",
		"(&(cn=%g)(member=%u))", "-H", ldap.URL(),
	}}, helper.CacheConfig{TTL: time.Hour, NegativeTTL: time.Hour})
	for range 2 {
		looksUp(t, e, helper.OK, "alice", "staff")
		looksUp(t, e, helper.OK, "alice", "the board")
		looksUp(t, e, helper.OK, "bob", "nobody", "staff")
		looksUp(t, e, helper.ERR, "bob", "the board")
		looksUp(t, e, helper.ERR, "carol", "staff")
	}
	if s := pool.Status(); s.Queries != 5 || s.Restarts != 0 {
		t.Errorf("%+v", s)
	}
}

func TestGroupUnix(t *testing.T) {
	e, _ := external(t, helper.Config{Processes: 1, Command: []string{squids(t, "ext_unix_group_acl"), "-p"}},
		helper.CacheConfig{})
	looksUp(t, e, helper.OK, "root", "root")
	looksUp(t, e, helper.ERR, "root", "daemon")
	looksUp(t, e, helper.ERR, "no such user", "root")
}

func TestUserIP(t *testing.T) {
	program := squids(t, "ext_file_userip_acl")
	file := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(file, []byte("192.0.2.0/255.255.255.0 alice\n198.51.100.1 ALL\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e, _ := external(t, helper.Config{Processes: 1, Command: []string{program, "-f", file}}, helper.CacheConfig{})
	looksUp(t, e, helper.OK, "192.0.2.1", "alice")
	looksUp(t, e, helper.ERR, "192.0.2.1", "bob")
	looksUp(t, e, helper.OK, "198.51.100.1", "bob")
}

// tickets returns a function that creates the token of a client with a ticket for HTTP at www.example.
func tickets(t *testing.T, kdc *testserver.KDC, user string) func() string {
	t.Helper()
	cache := kdc.LogIn(t, user)
	program := squids(t, "negotiate_kerberos_auth_test")
	token := regexp.MustCompile(`Token: (\S+)`)
	return func() string {
		cmd := exec.CommandContext(t.Context(), program, "www.example")
		cmd.Env = append(os.Environ(), "KRB5CCNAME="+cache)
		text, err := cmd.CombinedOutput()
		found := token.FindSubmatch(text)
		if err != nil || found == nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return string(found[1])
	}
}

func TestNegotiateKerberos(t *testing.T) {
	program := squids(t, "negotiate_kerberos_auth")
	wrapper, ntlm := squids(t, "negotiate_wrapper_auth"), squids(t, "ntlm_fake_auth")
	kdc := testserver.StartKDC(t)
	keytab := kdc.Keytab(t, "HTTP/www.example")
	token := tickets(t, kdc, "alice")
	kerberos := []string{program, "-k", keytab, "-t", "none", "-s", "GSS_C_NO_NAME"}
	for name, command := range map[string][]string{
		"alone":   kerberos,
		"wrapped": append([]string{wrapper, "--ntlm", ntlm, "--kerberos"}, kerberos...),
	} {
		t.Run(name, func(t *testing.T) {
			pool, _ := open(t, helper.Config{Processes: 1, Command: command})
			n, err := helper.NewNegotiate(pool)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(n.Close)
			for range 3 {
				c := n.Begin(alice)
				step, err := c.Next(t.Context(), token())
				if err != nil || step.More || step.Answer.Result != helper.OK ||
					step.Answer.User() != "alice@KERBEROS.TEST" || step.Token == "" {
					t.Errorf("%+v, %v", step, err)
				}
				forged := n.Begin(bob)
				if step, err := forged.Next(t.Context(), forge(t, token())); err == nil &&
					step.Answer.Result == helper.OK {
					t.Errorf("a forged token is let in: %+v", step)
				}
				c.Close()
				forged.Close()
			}
			if s := pool.Status(); s.Restarts != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// forge changes the last byte of a token.
func forge(t *testing.T, token string) string {
	t.Helper()
	text, err := base64.StdEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)-1] ^= 1
	return base64.StdEncoding.EncodeToString(text)
}

// A conversation of NTLM has two messages of the client: MS-NLMP section 2.2.1.
func TestNegotiateNTLM(t *testing.T) {
	kerberos := squids(t, "negotiate_kerberos_auth")
	pool, _ := open(t, helper.Config{Processes: 2, Command: []string{
		squids(t, "negotiate_wrapper_auth"), "--ntlm", squids(t, "ntlm_fake_auth"), "--kerberos", kerberos, "-s",
		"GSS_C_NO_NAME",
	}})
	n, err := helper.NewNegotiate(pool)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	first := append([]byte("NTLMSSP\x00\x01\x00\x00\x00"), make([]byte, 28)...)
	binary.LittleEndian.PutUint32(first[12:], 0x0000b207) // with OEM strings
	c, other := n.Begin(alice), n.Begin(bob)
	defer c.Close()
	defer other.Close()
	for _, one := range []*helper.Conversation{c, other} {
		step, err := one.Next(t.Context(), base64.StdEncoding.EncodeToString(first))
		if err != nil || !step.More || !strings.HasPrefix(step.Token, "TlRMTVNTUAAC") { // NTLMSSP, message 2
			t.Fatalf("%+v, %v", step, err)
		}
	}
	for user, one := range map[string]*helper.Conversation{"alice": c, "bob": other} {
		step, err := one.Next(t.Context(), base64.StdEncoding.EncodeToString(ntlmAuthenticate("DOMAIN", user)))
		if err != nil || step.More || !strings.Contains(strings.ToLower(step.Answer.User()), user) {
			t.Errorf("%s: %+v, %v", user, step, err)
		}
	}
	if _, err := c.Next(t.Context(), "YQ=="); err == nil || !errors.Is(err, helper.ErrUnavailable) {
		t.Errorf("neither: %v", err)
	}
}

// ntlmAuthenticate returns the last message of NTLM.
func ntlmAuthenticate(domain, user string) []byte {
	const head = 64
	message := append([]byte("NTLMSSP\x00\x03\x00\x00\x00"), make([]byte, head-12)...)
	for field, value := range map[int]string{
		12: strings.Repeat("a", 24), 20: strings.Repeat("b", 24), 28: domain,
		36: user, 44: "HOST", 52: "",
	} {
		binary.LittleEndian.PutUint16(message[field:], uint16(len(value)))
		binary.LittleEndian.PutUint16(message[field+2:], uint16(len(value)))
		binary.LittleEndian.PutUint32(message[field+4:], uint32(len(message)))
		message = append(message, value...)
	}
	binary.LittleEndian.PutUint32(message[60:], 0x0000b207)
	return message
}
