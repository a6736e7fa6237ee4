package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

const settingsWhy = "a library does not know how it is configured: say what is not allowed, and let cmd/urnd, " +
	"internal/cli, or the table of proxy/problem, name the setting"

// settingsIn lists the places that may name settings.
func settingsIn() []string {
	return []string{"cmd/urnd", "internal/cli/...", "config/...", "proxy/problem"}
}

// checkSettings finds the names of settings in the texts of libraries.
func checkSettings(tr *tree, paths []string) []finding {
	quoted := make([]string, len(paths))
	for i, path := range paths {
		quoted[i] = regexp.QuoteMeta(path)
	}
	names := regexp.MustCompile(`\b(` + strings.Join(quoted, "|") + `)\b`)
	var found []finding
	for _, s := range tr.code() {
		if allowed(settingsIn(), s) {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			// Every setting is in a section.
			if !ok || literal.Kind != token.STRING || !strings.Contains(literal.Value, ".") {
				return true
			}
			if name := names.FindString(literal.Value); name != "" {
				found = append(found, finding{
					tr.where(literal.Pos()),
					fmt.Sprintf("%s names the setting %s", s.dir(), name), settingsWhy,
				})
			}
			return true
		})
	}
	return found
}

// settings returns the paths of all leaf settings.
func settings() []string {
	var paths []string
	for _, s := range config.Settings() {
		if !s.IsSection() && s.Path != "namespaces" {
			paths = append(paths, s.Path)
		}
	}
	return paths
}

func TestSettings(t *testing.T) { report(t, checkSettings(readModule(t), settings())) }

func TestSettingsFound(t *testing.T) {
	for _, c := range []struct{ path, text, want string }{
		{
			"resolver/x.go", `const x = "refused (limits.requests)"`,
			"resolver/x.go:2 resolver names the setting limits.requests",
		},
		{"resolver/x.go", "const x = `limits.requests`", "resolver/x.go:2 resolver names the setting limits.requests"},
		{"resolver/x.go", `const x = "limits.requestsX and unlimits.requests"`, ""},
		{"resolver/x.go", "// limits.requests\nvar x int", ""},
		{"cmd/urnd/x.go", `const x = "limits.requests"`, ""},
		{"proxy/problem/x.go", `const x = "limits.requests"`, ""},
		{"proxy/x.go", `const x = "limits.requests"`, "proxy/x.go:2 proxy names the setting limits.requests"},
	} {
		var want []string
		if c.want != "" {
			want = []string{c.want}
		}
		wantFindings(t, checkSettings(fakeTree(t, map[string]string{c.path: "package x\n" + c.text}), settings()),
			want...)
	}
}
