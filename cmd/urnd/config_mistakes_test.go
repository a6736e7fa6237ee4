package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// checked returns the output of "urnd config check" for a configuration, with the base name of its file.
func checked(t *testing.T, name, text string) string {
	t.Helper()
	directory := t.TempDir()
	path := filepath.Join(directory, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	root := newRoot()
	root.SetArgs([]string{"config", "check", path})
	root.SetOut(&out)
	root.SetErr(&out)
	if err := root.ExecuteContext(t.Context()); err != nil {
		out.WriteString(err.Error() + "\n")
	}
	return strings.ReplaceAll(out.String(), directory+"/", "")
}

// The command reports each mistake of the table with its position and advice.
func TestConfigCheckAnswersMistakes(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	table, err := os.ReadFile("../../config/testdata/mistakes.txt")
	if err != nil {
		t.Fatal(err)
	}
	for block := range strings.SplitSeq(strings.TrimPrefix(string(table), "=="), "\n== ") {
		answer, text, _ := strings.Cut(block, "\n")
		if strings.HasPrefix(answer, "#") || text == "" { // the head, or one of two answers
			continue
		}
		words := strings.Split(answer, "|")
		line, path, _ := strings.Cut(strings.TrimSpace(words[0]), " ")
		words[0] = "urnd.yaml:" + line + ":" // and a column
		words = append(words, ": "+path)
		if line == "0" {
			words[0] = "urnd.yaml: "
		}
		is := func(reported string) bool {
			for _, word := range words {
				if !strings.Contains(reported, strings.TrimSpace(word)) {
					return false
				}
			}
			return true
		}
		found := false
		all := checked(t, "urnd.yaml", text)
		for reported := range strings.Lines(all) {
			found = found || is(reported)
			if strings.Count(all, reported) > 1 {
				t.Errorf("%s\nit says more than once: %s", text, reported)
			}
		}
		if !found {
			t.Errorf("%s\n%swant %q", text, all, words)
		}
	}
}

// Errors of files that settings refer to have the line of the setting, also in lists.
func TestConfigCheckNamesLinesOfFiles(t *testing.T) {
	for text, want := range map[string]string{
		"tls:\n  certificate: /nowhere/c\n  key: /nowhere/k\n": "urnd.yaml:2:3: tls.certificate and " +
			"tls.key: ",
		"access:\n  admin_token: /nowhere/token\n":                       "urnd.yaml:2:3: access.admin_token: ",
		"access:\n  proxy_users: /nowhere/users\n":                       "urnd.yaml:2:3: access.proxy_users: ",
		"news:\n  servers: ['a.example:119']\n  login: /nowhere/login\n": "urnd.yaml:3:3: news.login: ",
		"proxy:\n  upstreams:\n    - proxies: [http://a.example:3128]\n      user: u\n      password: " +
			"/nowhere/password\n": "urnd.yaml:5:7: proxy.upstreams.0.password: ",
		"cache:\n  shared: redis://127.0.0.1:6379/0\n  shared_key: /nowhere/key\n": "urnd.yaml:3:3: ",
		"registry:\n  store: sqlite:/tmp\n": "urnd.yaml:2:3: " +
			"registry.store: /tmp is a directory: write the path of a file, such as sqlite:/tmp/registry.db",
		"registry:\n  store: sqlite:/nowhere/names.db\n": "urnd.yaml:2:3: " +
			"registry.store: the directory /nowhere does not exist",
		"listen:\n  admin: unix:/nowhere/admin.sock\n": "urnd.yaml:2:3: " +
			"listen.admin: the directory /nowhere does not exist",
		"cache:\n  directory: /nowhere\n":     "urnd.yaml:2:3: cache.directory: the directory /nowhere does not exist",
		"file:\n  roots: [/srv, /nowhere]\n":  "urnd.yaml:2:17: file.roots.1: the directory /nowhere does not exist",
		"access:\n  proxy_users: /dev/null\n": "urnd.yaml:2:3: access.proxy_users: the file is empty",
		"access:\n  admin_token: /dev/null\n": "urnd.yaml:2:3: access.admin_token: the file is empty",
		"registry:\n  store: postgres://u@127.0.0.1:9/names\n  password: /dev/null\n": "urnd.yaml:3:3: " +
			"registry.password: the file is empty",
		"cdn:\n  tags: xkey\n  webhooks: ['https://a.example/']\n  secret: /dev/null\n": "urnd.yaml:4:3: " +
			"cdn.secret: the file is empty",
		"log:\n  access:\n    - file: /proc/access.log\n":    "urnd.yaml:3:7: log.access.0.file: the directory /proc",
		"log:\n  access:\n    - file: /nowhere/access.log\n": "urnd.yaml:3:7: log.access.0.file: ",
		"log:\n  access:\n    - format: 'squid:%ts %>st'\n": "urnd.yaml:3:7: " +
			"log.access.0.format: urnd does not support %>st: write %<st, the nearest token, or delete it, at " +
			"offset 10",
	} {
		if got := checked(t, "urnd.yaml", text); !strings.Contains(got, want) {
			t.Errorf("%s%s\nwant %s", text, got, want)
		}
	}
}

// Fast password hashes cause a warning, others do not.
func TestConfigCheckNamesCheapHashes(t *testing.T) {
	const (
		cheap = "ann:$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC\n"
		good  = "bob:$2y$10$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC\n"
	)
	for text, want := range map[string]string{
		good:               "",
		cheap:              "urnd.yaml:1:10: access.proxy_users: 1 of 1 hashes have a cost below 10",
		"#" + cheap + good: "",
		cheap + good:       "urnd.yaml:1:10: access.proxy_users: 1 of 2 hashes have a cost below 10",
	} {
		users := filepath.Join(t.TempDir(), "users")
		if err := os.WriteFile(users, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := checked(t, "urnd.yaml", "access: {proxy_users: "+users+"}\n")
		if !strings.Contains(got, want) || strings.Contains(got, "a cost below") != (want != "") {
			t.Errorf("%s%s\nwant %q", text, got, want)
		}
	}
}

// The registry rejects names that it would not be queried for, with an error.
func TestRegistryTakesWhatIsAnswered(t *testing.T) {
	store := "sqlite:" + filepath.Join(t.TempDir(), "names.db")
	set := func(name string) error {
		_, err := run(t, "", "registry", "set", name, "--target", "https://a.example/", "--store", store, "--config",
			"")
		return err
	}
	for _, tt := range []struct{ owned, name, want string }{
		{"", "urn:nbn:fi:a", ""},
		{"", "ark:/12345/a", ""},
		{"", "ietf:rfc:2648", "did you mean urn:ietf:rfc:2648?"},
		{"doi:10.5555/", "https://doi.org/10.5555/a", ""},
		{"doi:10.5555/", "urn:doi:10.5556/a", "outside the prefixes of this registry, urn:doi:10.5555/"},
		{"ark:/12345/", "ark:/12345/a", ""},
		{"ark:/12345/", "urn:nbn:fi:b", "outside the prefixes of this registry, ark:/12345/"},
		{"ark:/12345/", "urn:nbn:fi:a", ""}, // it is present
		{"ark:/12345/,urn:", "urn:nbn:fi:b", ""},
	} {
		t.Setenv("URND_REGISTRY_OWNED", tt.owned)
		err := set(tt.name)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("owned %q: %s: %v, want %q", tt.owned, tt.name, err, tt.want)
		}
	}
}

// A certificate for other names than those of urnd, or for none, causes a warning.
func TestConfigCheckNamesOfCertificate(t *testing.T) {
	for _, tt := range []struct {
		names  []string
		wants  []string
		absent string
	}{
		{[]string{"urn.example.org", "www.example.org", "purl.example.org", "id.example.org"}, nil, "warning"},
		{[]string{"*.example.org"}, nil, "warning"},
		{
			[]string{"www.example.org"},
			[]string{
				"urnd.yaml:1:40: listen.names.0: there is no certificate for urn.example.org, but for www.example.org",
				"urnd.yaml:4:99: registry.digital_link.0.root: there is no certificate for id.example.org",
				"urnd.yaml:4:63: registry.hosts.0: there is no certificate for purl.example.org",
			},
			"proxy.sites.0",
		},
		{
			[]string{"urn.example.org", "purl.example.org"},
			[]string{"urnd.yaml:3:26: proxy.sites.0.hosts.0: there is no certificate for www.example.org"},
			"listen.names",
		},
		{nil, []string{"urnd.yaml:2:7: tls.certificate: the certificate has no names"}, "listen.names"},
	} {
		certificate, key := selfSigned(t, tt.names)
		pair := newPairFiles(t, certificate, key)
		got := checked(t, "urnd.yaml", "listen: {tls: ['127.0.0.1:0'], names: [urn.example.org]}\n"+
			"tls: {certificate: "+pair.certificate+", key: "+pair.key+"}\n"+
			"proxy: {sites: [{hosts: [www.example.org], servers: ['http://192.0.43.8']}]}\n"+
			"registry: {store: 'sqlite:/var/lib/urnd/registry.db', hosts: [purl.example.org.], digital_link: "+
			"[{root: 'https://id.example.org/'}]}\n")
		for _, want := range tt.wants {
			if !strings.Contains(got, want) {
				t.Errorf("%v: %s\nwant %s", tt.names, got, want)
			}
		}
		if strings.Contains(strings.ReplaceAll(got, "not checked", ""), tt.absent) {
			t.Errorf("%v: %s\nhas %s", tt.names, got, tt.absent)
		}
	}
}

// selfSigned returns a self-signed certificate for names and its key, in PEM.
func selfSigned(t *testing.T, names []string) (certificate, key []byte) {
	t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "urn.example.org"}, DNSNames: names,
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0),
	}
	made, err := x509.CreateCertificate(rand.Reader, template, template, own.Public(), own)
	text, keyErr := x509.MarshalPKCS8PrivateKey(own)
	if err = errors.Join(err, keyErr); err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text})
}
