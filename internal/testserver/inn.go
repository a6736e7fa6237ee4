package testserver

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// INN is a running InterNetNews server. All groups are public except those below "secret.", which require the
// user "reader" with the password "secret".
type INN struct {
	t   testing.TB
	dir string
	// programs is the folder of the programs of INN and of its libraries: /usr/lib/news, or the folder to which
	// the package was unpacked.
	programs string
	addr     netip.AddrPort
	process  *process
	// Roots contains its TLS certificate, which is for 127.0.0.1.
	Roots *x509.CertPool
}

// innConfig restricts INN to its folder, apart from an INN of the machine.
const innConfig = `mta: "/bin/true %%s"
organization: test
ovmethod: tradindexed
hismethod: hisv6
pathhost: news.test
domain: test
fromhost: news.test
pathnews: %[1]s
patharchive: %[2]s/spool
patharticles: %[2]s/articles
pathdb: %[2]s/db
pathetc: %[2]s/etc
pathfilter: %[2]s/etc
pathhttp: %[2]s/log
pathincoming: %[2]s/spool
pathlog: %[2]s/log
pathoutgoing: %[2]s/spool
pathoverview: %[2]s/overview
pathrun: %[2]s/run
pathspool: %[2]s/spool
pathtmp: %[2]s/run
runasuser: %[3]s
runasgroup: %[4]s
artcutoff: 0
bindaddress: 127.0.0.1
port: %[5]d
nnrpdloadlimit: 0
doinnwatch: false
logstatus: false
enableoverview: true
wireformat: true
tlscertfile: %[2]s/etc/cert.pem
tlskeyfile: %[2]s/etc/key.pem
`

const innReaders = `auth all { hosts: "*" default: "<anyone>" auth: "ckpasswd -f %s/etc/passwd" }
access all { users: "*" newsgroups: "*,!secret.*" access: RP }
access known { users: "reader*" newsgroups: "*" access: RP }
`

// innPassword is the password "secret" of the user reader, hashed by crypt(3).
const innPassword = "reader:$1$urnd$hji8OXrS2n0avs9cGX6Hq/\n"

// StartINN starts INN with groups; their descriptions are "About " and the name. It stops at the end of the
// test.
func StartINN(t testing.TB, groups ...string) *INN {
	t.Helper()
	ctlinnd, err := filepath.EvalSymlinks(Need(t, "ctlinnd")) // in the folder bin of the programs
	if err != nil {
		t.Fatal(err)
	}
	const attempts = 5
	var last error
	for range attempts {
		addr, err := freePort()
		if err != nil {
			t.Fatal(err)
		}
		s := &INN{t: t, dir: OpenFolder(t), addr: addr, programs: filepath.Dir(filepath.Dir(ctlinnd))}
		if last = s.launch(groups); last == nil {
			t.Cleanup(s.stop)
			return s
		}
		if !errors.Is(last, errPortTaken) {
			break
		}
	}
	t.Fatalf("start INN: %v", last)
	return nil
}

func (s *INN) launch(groups []string) error {
	account, err := innUser()
	if err != nil {
		return err
	}
	if err := s.write(account, groups); err != nil {
		return err
	}
	if output, err := s.command(account, "makedbz", "-i", "-o", "-s", "1000").CombinedOutput(); err != nil {
		return fmt.Errorf("makedbz: %w: %s", err, output)
	}
	s.process, err = startCommand(s.dir, s.log(),
		s.command(account, "innd", "-f", "-d", "-P", strconv.Itoa(int(s.addr.Port()))))
	if err != nil {
		return err
	}
	err = poll(func() (bool, error) {
		if s.greets() {
			return true, nil
		}
		ended := s.process.ended()
		if output, _ := os.ReadFile(s.log()); ended != nil && strings.Contains(string(output), "already in use") {
			ended = errPortTaken
		}
		return false, ended
	})
	if err != nil {
		output, _ := os.ReadFile(s.log())
		return fmt.Errorf("%w\n%s", err, output)
	}
	return nil
}

// greets reports whether INN is ready.
func (s *INN) greets() bool {
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		return false
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(Timeout)); err != nil {
		return false
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	return err == nil && strings.HasPrefix(line, "200")
}

// innUser returns the user of INN, which cannot be root.
func innUser() (*user.User, error) {
	if os.Geteuid() == 0 {
		return user.Lookup("news")
	}
	return user.Current()
}

// command returns a command of INN that runs as that user.
func (s *INN) command(account *user.User, arguments ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.programs, "bin", arguments[0]), arguments[1:]...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "INNCONF="+s.path("etc/inn.conf"), "LD_LIBRARY_PATH="+s.programs)
	if os.Geteuid() == 0 {
		uid, _ := strconv.ParseUint(account.Uid, 10, 32) // numbers on Unix
		gid, _ := strconv.ParseUint(account.Gid, 10, 32)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	return cmd
}

func (s *INN) path(name string) string { return filepath.Join(s.dir, name) }

func (s *INN) log() string { return s.path("inn.out") }

// write creates the folders and files.
func (s *INN) write(account *user.User, groups []string) error {
	group, err := user.LookupGroupId(account.Gid)
	if err != nil {
		return err
	}
	certificate, key, err := s.certify()
	if err != nil {
		return err
	}
	var active, descriptions strings.Builder
	for _, name := range []string{
		"control", "control.cancel", "control.checkgroups", "control.newgroup",
		"control.rmgroup", "junk",
	} {
		active.WriteString(name + " 0000000000 0000000001 n\n") // innd requires them
	}
	for _, name := range groups {
		active.WriteString(name + " 0000000000 0000000001 y\n")
		descriptions.WriteString(name + "\tAbout " + name + "\n")
	}
	files := map[string]string{
		"etc/inn.conf":     fmt.Sprintf(innConfig, s.programs, s.dir, account.Username, group.Name, s.addr.Port()),
		"etc/readers.conf": fmt.Sprintf(innReaders, s.dir), "etc/passwd": innPassword,
		"etc/storage.conf": "method tradspool {\n newsgroups: *\n class: 0\n}\n", "etc/newsfeeds": "ME:!*/!local::\n",
		"etc/incoming.conf": "peer ME {\n hostname: \"127.0.0.1\"\n}\n", "etc/cert.pem": certificate,
		"etc/key.pem": key, "db/active": active.String(), "db/newsgroups": descriptions.String(), "db/active.times": "",
		"db/history": "",
	}
	for _, folder := range []string{"articles", "db", "etc", "log", "overview", "run", "spool"} {
		if err := os.Mkdir(s.path(folder), 0o755); err != nil {
			return err
		}
	}
	for name, text := range files {
		if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	if os.Geteuid() != 0 {
		return nil
	}
	output, err := exec.Command("chown", "-R", account.Uid+":"+account.Gid, s.dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, output)
	}
	return nil
}

// certify creates a certificate with its key.
func (s *INN) certify() (certificate, key string, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "news.test"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		return "", "", err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return "", "", err
	}
	certificate = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	s.Roots = x509.NewCertPool()
	s.Roots.AppendCertsFromPEM([]byte(certificate))
	return certificate, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})), nil
}

// Addr returns the listening address as "127.0.0.1:port".
func (s *INN) Addr() string { return s.addr.String() }

// Feed sends articles to INN like a peer (RFC 3977 section 6.3.2). Lines end with LF; Path is added, and Date
// if missing.
func (s *INN) Feed(articles ...string) {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(Timeout)); err != nil {
		s.t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	expect := func(code string) {
		s.t.Helper()
		if line, err := reader.ReadString('\n'); err != nil || !strings.HasPrefix(line, code) {
			s.t.Fatalf("INN says %q, %v, want %s", line, err, code)
		}
	}
	expect("200")
	for _, article := range articles {
		_, rest, _ := strings.Cut(article, "Message-ID: ")
		id, _, _ := strings.Cut(rest, "\n")
		fmt.Fprintf(conn, "IHAVE %s\r\n", id)
		expect("335")
		if !strings.Contains(article, "\nDate: ") {
			article = "Date: " + time.Now().UTC().Format(time.RFC1123Z) + "\n" + article
		}
		article = "Path: test!not-for-mail\n" + article
		for line := range strings.Lines(article) {
			if strings.HasPrefix(line, ".") {
				line = "." + line
			}
			fmt.Fprintf(conn, "%s\r\n", strings.TrimSuffix(line, "\n"))
		}
		fmt.Fprint(conn, ".\r\n")
		expect("235")
	}
}

// stop kills innd: after SIGTERM it waits for the next connection before it ends.
func (s *INN) stop() {
	if err := s.process.ended(); err != nil {
		output, _ := os.ReadFile(s.log())
		s.t.Errorf("INN: %v\n%s", err, output)
	}
	_ = s.process.cmd.Process.Kill() // fails only if it has ended
	<-s.process.done
}
