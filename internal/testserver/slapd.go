package testserver

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// SLAPD is a running OpenLDAP server.
type SLAPD struct {
	dir     string
	addr    netip.AddrPort
	process *process
}

// LDAPBase is the base DN of all entries of a SLAPD: users are uid, groups of the class groupOfNames are cn.
const LDAPBase = "dc=example,dc=test"

const (
	slapdConfig = `include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
database mdb
suffix "` + LDAPBase + `"
maxsize 10485760
dbnosync
directory %s
access to attrs=userPassword by anonymous auth
access to * by * read
`
	slapdRoot = "dn: " + LDAPBase + "\nobjectClass: dcObject\nobjectClass: organization\ndc: example\no: example\n\n"
	slapdUser = "dn: uid=%[1]s," + LDAPBase +
		"\nobjectClass: inetOrgPerson\nuid: %[1]s\ncn: %[1]s\nsn: %[1]s\nuserPassword: %[2]s\n\n"
	slapdGroup = "dn: cn=%[1]s," + LDAPBase + "\nobjectClass: groupOfNames\ncn: %[1]s\n%[2]s\n"
)

// StartSLAPD starts a server with users and their passwords, and with groups of these users. It stops at the
// end of the test.
func StartSLAPD(t testing.TB, users map[string]string, groups map[string][]string) *SLAPD {
	t.Helper()
	path := Need(t, "slapd")
	const attempts = 5
	var last error
	for range attempts {
		s := &SLAPD{dir: OpenFolder(t)}
		s.load(t, ldif(users, groups))
		if last = s.start(path); last == nil {
			t.Cleanup(func() {
				if err := s.process.stop(); err != nil {
					t.Errorf("slapd: %v", err)
				}
			})
			return s
		}
		if !errors.Is(last, errPortTaken) {
			break
		}
	}
	t.Fatalf("start slapd: %v", last)
	return nil
}

// ldif returns the entries in LDIF (RFC 2849).
func ldif(users map[string]string, groups map[string][]string) string {
	var b strings.Builder
	b.WriteString(slapdRoot)
	for _, user := range slices.Sorted(maps.Keys(users)) {
		fmt.Fprintf(&b, slapdUser, user, users[user])
	}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		var members strings.Builder
		for _, user := range groups[group] {
			fmt.Fprintf(&members, "member: uid=%s,%s\n", user, LDAPBase)
		}
		fmt.Fprintf(&b, slapdGroup, group, members.String())
	}
	return b.String()
}

// load writes the configuration and the entries.
func (s *SLAPD) load(t testing.TB, entries string) {
	t.Helper()
	data := s.file("data")
	err := os.Mkdir(data, 0o777)
	if err == nil {
		err = os.Chmod(data, 0o777) // it runs as another user
	}
	for name, text := range map[string]string{"slapd.conf": fmt.Sprintf(slapdConfig, data), "entries.ldif": entries} {
		if err == nil {
			err = os.WriteFile(s.file(name), []byte(text), 0o644)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(Need(t, "slapadd"), "-f", s.file("slapd.conf"), "-l", s.file("entries.ldif"))
	if err := asNobody(cmd); err != nil {
		t.Fatal(err)
	}
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("slapadd: %v\n%s", err, text)
	}
}

func (s *SLAPD) start(path string) (err error) {
	if s.addr, err = freePort(); err != nil {
		return err
	}
	cmd := exec.Command(path, "-h", s.URL(), "-f", s.file("slapd.conf"), "-d", "0") // keeps it in the foreground
	if err := asNobody(cmd); err != nil {
		return err
	}
	if s.process, err = startCommand(s.dir, s.file("out"), cmd); err != nil {
		return err
	}
	err = poll(func() (bool, error) {
		conn, err := net.Dial("tcp", s.addr.String())
		if err == nil {
			_ = conn.Close()
		}
		return err == nil, s.process.ended()
	})
	if err != nil && isTaken(s.addr) {
		err = errPortTaken
	}
	return err
}

func (s *SLAPD) file(name string) string { return filepath.Join(s.dir, name) }

// URL returns the URL of the server, "ldap://127.0.0.1:port/".
func (s *SLAPD) URL() string { return "ldap://" + s.addr.String() + "/" }
