package config

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// secretName matches settings of passwords, or of files of secrets.
var secretName = regexp.MustCompile(`password|passphrase|token|secret|login|users|credential|(^|[._])key$`)

// mistakes are values of wrong types, and a text that is not a path. X stands for the secret.
func mistakes() []string {
	return []string{"[X]", "{X: X}", "{a: X}", "[[X]]", "X", "'host=h password=X'", "[{a: X}]"}
}

// TestSecretsAreNotShown requires that no message shows a secret written in place of its file.
func TestSecretsAreNotShown(t *testing.T) {
	const secret = "hunter2"
	declared := make(map[string]Setting)
	for _, s := range slices.Concat(Settings(), Elements()) {
		declared[s.Path] = s
	}
	for path, field := range fieldsOf("", reflect.TypeFor[Config]()) {
		named := secretName.MatchString(path) && field.Type.Kind() == reflect.String
		if named && !declared[path].Secret {
			t.Errorf("%s has the name of a secret, and is not declared as one", path)
		}
		if !declared[path].Secret {
			continue
		}
		for _, mistake := range mistakes() {
			err := loadText(t, nested(path, strings.ReplaceAll(mistake, "X", secret)))
			if shows(err, secret) || err == nil && path != "tls.key" { // tls.key may be a relative path
				t.Errorf("%s: %s: %v", path, mistake, err)
			}
		}
		t.Setenv(variableOf(path), secret)
		if _, err := Load("", nil); shows(err, secret) {
			t.Errorf("%s in the environment: %v", path, err)
		}
		os.Unsetenv(variableOf(path))
	}
	for _, text := range []string{
		"proxy: {upstreams: ['http://u:hunter2']}", "proxy: {upstreams: hunter2}", "proxy: hunter2", "tls: [hunter2]",
		"access: hunter2",
		"news: {servers: [a:1], login: [hunter2]}", "registry: {store: 'postgres://h/d?sslpassword=hunter2'}",
		"registry: 'postgres://u:hunter2'",
	} {
		if err := loadText(t, text); err == nil || shows(err, secret) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestSecretFilesAreSecrets requires that every setting checked as a file of secrets is declared as secret.
func TestSecretFilesAreSecrets(t *testing.T) {
	for _, s := range slices.Concat(Settings(), Elements()) {
		check := reflect.ValueOf(s.check).Pointer()
		if (check == reflect.ValueOf(checkSecretFile).Pointer() || check == reflect.ValueOf(checkKeyFile).Pointer()) &&
			!s.Secret {
			t.Errorf("%s is a file of secrets, and is not declared as a secret", s.Path)
		}
	}
}

func shows(err error, secret string) bool { return err != nil && strings.Contains(err.Error(), secret) }

// nested returns the YAML of a setting; "a.*.b" is in a list.
func nested(path, value string) string {
	parts := strings.Split(path, ".")
	for i := len(parts) - 1; i >= 0; i-- {
		if parts[i] == anyIndex {
			value = "[" + value + "]"
			continue
		}
		value = "{" + parts[i] + ": " + value + "}"
	}
	return value
}

func loadText(t *testing.T, text string) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), "urnd.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Load(path, nil)
	return err
}
