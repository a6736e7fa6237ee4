package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checked returns all that urnd config check says of a configuration, with the name of its file alone.
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

// The command says of each mistake of the table where it is, and what to write.
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
		words[0] = "urnd.yaml:" + line + ": " + path
		if line == "0" {
			words[0] = "urnd.yaml: "
		}
		is := func(said string) bool {
			for _, word := range words {
				if !strings.Contains(said, strings.TrimSpace(word)) {
					return false
				}
			}
			return true
		}
		found := false
		all := checked(t, "urnd.yaml", text)
		for said := range strings.Lines(all) {
			found = found || is(said)
			if strings.Count(all, said) > 1 {
				t.Errorf("%s\nit says more than once: %s", text, said)
			}
		}
		if !found {
			t.Errorf("%s\n%swant %q", text, all, words)
		}
	}
}

// Faults of files that settings name have the line of the setting, also in lists.
func TestConfigCheckNamesLinesOfFiles(t *testing.T) {
	for text, want := range map[string]string{
		"tls:\n  certificate: /nowhere/c\n  key: /nowhere/k\n":                                                          "urnd.yaml:2: tls.certificate and tls.key: ",
		"access:\n  admin_token: /nowhere/token\n":                                                                      "urnd.yaml:2: access.admin_token: ",
		"access:\n  proxy_users: /nowhere/users\n":                                                                      "urnd.yaml:2: access.proxy_users: ",
		"news:\n  servers: ['a.example:119']\n  login: /nowhere/login\n":                                                "urnd.yaml:3: news.login: ",
		"proxy:\n  upstreams:\n    - server: http://a.example:3128\n      user: u\n      password: /nowhere/password\n": "urnd.yaml:5: proxy.upstreams.0.password: ",
		"log:\n  access: json\n  access_file: /nowhere/access.log\n":                                                    "urnd.yaml:3: log.access_file: ",
	} {
		if got := checked(t, "urnd.yaml", text); !strings.Contains(got, want) {
			t.Errorf("%s%s\nwant %s", text, got, want)
		}
	}
}

// The registry takes no name that it would not be asked for, and says so.
func TestRegistryTakesWhatIsAnswered(t *testing.T) {
	store := "sqlite:" + filepath.Join(t.TempDir(), "names.db")
	set := func(name string) error {
		_, err := run(t, "", "registry", "set", name, "--target", "https://a.example/", "--store", store, "--config", "")
		return err
	}
	for _, tt := range []struct{ only, name, want string }{
		{"", "urn:nbn:fi:a", ""},
		{"", "ark:/12345/a", ""},
		{"", "ietf:rfc:2648", "do you mean urn:ietf:rfc:2648?"},
		{"doi:10.5555/", "https://doi.org/10.5555/a", ""},
		{"doi:10.5555/", "urn:doi:10.5556/a", "asked only for what begins with urn:doi:10.5555/"},
		{"ark:/12345/", "ark:/12345/a", ""},
		{"ark:/12345/", "urn:nbn:fi:b", "asked only for what begins with ark:/12345/"},
		{"ark:/12345/", "urn:nbn:fi:a", ""}, // it is there
		{"ark:/12345/,urn:", "urn:nbn:fi:b", ""},
	} {
		t.Setenv("URND_REGISTRY_ONLY", tt.only)
		err := set(tt.name)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("only %q: %s: %v, want %q", tt.only, tt.name, err, tt.want)
		}
	}
}
