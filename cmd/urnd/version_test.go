package main

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
)

// All other copies of the version equal the file: "make generate" writes all but the list of changes.
func TestVersion(t *testing.T) {
	version := versionText()
	if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(version) || versionFile != version+"\n" {
		t.Fatalf("%q is not a version", versionFile)
	}
	built := " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH + "\n"
	for _, words := range []string{"version", "--version"} {
		if got, err := run(t, "", words); err != nil || got != "urnd "+version+built {
			t.Errorf("%s, without a commit: %q, %v", words, got, err)
		}
	}
	if agent := healthAgent("a@example.org"); agent != "urnd-link-check/"+version+" (+a@example.org)" {
		t.Errorf("checks of targets are by %s", agent)
	}
	for file, message := range map[string]string{
		"CHANGELOG.md":                         `(?s)^.*?\n## (\S+) - `, // the newest version
		"docs/install.md":                      `(?m)^The version is (\S+);`,
		"deploy/compose/compose.yaml":          `\$\{URND_VERSION:-([^}]+)\}`,
		"deploy/kubernetes/kustomization.yaml": `(?m)^ +newTag: (\S+)$`,
		"deploy/helm/urnd/Chart.yaml":          `(?m)^(?:version|appVersion): (\S+)$`,
	} {
		text, err := os.ReadFile(filepath.Join("../..", file))
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(message).FindAllStringSubmatch(string(text), -1)
		if len(found) == 0 {
			t.Errorf("%s does not say the version", file)
		}
		for _, match := range found {
			if match[1] != version {
				t.Errorf("%s is of %s, not %s: run make generate", file, match[1], version)
			}
		}
	}
}
