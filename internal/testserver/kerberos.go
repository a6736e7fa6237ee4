package testserver

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// KDC is a running Kerberos server. One goroutine may call its methods.
type KDC struct {
	dir     string
	addr    netip.AddrPort
	process *process
}

// The files contain everything that the Kerberos programs need: nothing is looked up, and no file of the
// machine is used.
const (
	kerberosConfig = `[libdefaults]
default_realm = %[1]s
dns_lookup_kdc = false
dns_lookup_realm = false
dns_canonicalize_hostname = false
rdns = false
udp_preference_limit = 1
[realms]
%[1]s = {
kdc = %[2]s
}
[logging]
kdc = FILE:%[3]s/kdc.log
default = FILE:%[3]s/default.log
`
	kdcConfig = `[kdcdefaults]
kdc_listen = %[2]s
kdc_tcp_listen = %[2]s
[realms]
%[1]s = {
database_name = %[3]s/principal
key_stash_file = %[3]s/stash
acl_file = %[3]s/acl
}
`
	realm = "KERBEROS.TEST"
)

// StartKDC starts a Kerberos server with its own realm, which stops at the end of the test. Until then, the
// environment of the test and of its child processes refers to that realm.
func StartKDC(t testing.TB) *KDC {
	t.Helper()
	path := Need(t, "krb5kdc")
	for _, other := range []string{"kdb5_util", "kadmin.local", "kinit"} {
		Need(t, other)
	}
	const attempts = 5
	var last error
	for range attempts {
		k := &KDC{dir: OpenFolder(t)}
		if last = k.start(t, path); last == nil {
			t.Cleanup(func() {
				if err := k.process.stop(); err != nil {
					t.Errorf("krb5kdc: %v", err)
				}
			})
			return k
		}
		if !errors.Is(last, errPortTaken) {
			break
		}
	}
	t.Fatalf("start krb5kdc: %v", last)
	return nil
}

func (k *KDC) start(t testing.TB, path string) error {
	t.Helper()
	var err error
	if k.addr, err = freePort(); err != nil {
		return err
	}
	for name, text := range map[string]string{"krb5.conf": kerberosConfig, "kdc.conf": kdcConfig} {
		if err := os.WriteFile(k.file(name), fmt.Appendf(nil, text, realm, k.addr, k.dir), 0o644); err != nil {
			return err
		}
	}
	t.Setenv("KRB5_CONFIG", k.file("krb5.conf"))
	t.Setenv("KRB5_KDC_PROFILE", k.file("kdc.conf"))
	t.Setenv("KRB5RCACHENAME", "none:") // servers of a test do not detect replays
	k.run(t, "kdb5_util", "create", "-s", "-r", realm, "-P", "of the test")
	if k.process, err = startProcess(k.dir, k.file("out"), path, "-n"); err != nil {
		return err
	}
	err = poll(func() (bool, error) {
		conn, err := net.Dial("tcp", k.addr.String())
		if err == nil {
			_ = conn.Close()
		}
		return err == nil, k.process.ended()
	})
	if err != nil && isTaken(k.addr) {
		err = errPortTaken
	}
	return err
}

func (k *KDC) file(name string) string { return filepath.Join(k.dir, name) }

// run runs a Kerberos program and waits for it.
func (k *KDC) run(t testing.TB, name string, arguments ...string) {
	t.Helper()
	if text, err := exec.Command(Need(t, name), arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(arguments, " "), err, text)
	}
}

// Keytab returns the file with the keys of new principals, such as "HTTP/www.example", which every user can
// read.
func (k *KDC) Keytab(t testing.TB, principals ...string) string {
	t.Helper()
	path := k.file(strings.ReplaceAll(principals[0], "/", "-") + ".keytab")
	for _, principal := range principals {
		k.run(t, "kadmin.local", "-q", "addprinc -randkey "+principal)
		k.run(t, "kadmin.local", "-q", "ktadd -k "+path+" "+principal)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// LogIn returns the credential cache of a new user, for the environment variable KRB5CCNAME.
func (k *KDC) LogIn(t testing.TB, user string) string {
	t.Helper()
	tickets := "FILE:" + k.file(user+".tickets")
	k.run(t, "kinit", "-k", "-t", k.Keytab(t, user), "-c", tickets, user)
	return tickets
}
