package arch

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const linksWhy = "a link that leads nowhere costs a reader the way: correct its path, or leave it out"

// linkPattern matches the target of a link, [text](target), or of a link definition,
// [label]: target.
var linkPattern = regexp.MustCompile(`\]\(([^()\s]+)(?:\s[^()]*)?\)|^\s*\[[^\]]+\]:\s+(\S+)`)

// checkLinks finds relative links in a text to a file or folder that does not exist. name is its path from the
// module root. Fenced code contains no links.
func checkLinks(name, text string, exists func(file string) bool) []finding {
	var found []finding
	fenced, line := false, 0
	for content := range strings.Lines(text) {
		line++
		if strings.HasPrefix(strings.TrimSpace(content), "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		for _, match := range linkPattern.FindAllStringSubmatch(content, -1) {
			target := match[1] + match[2]
			u, err := url.Parse(target)
			if err != nil || u.IsAbs() || u.Host != "" || u.Path == "" {
				continue // absolute URL, or a heading of the same file
			}
			if !exists(path.Join(path.Dir(name), u.Path)) {
				where := fmt.Sprintf("%s:%d", name, line)
				found = append(found, finding{where, "the link to " + target + " leads to no file", linksWhy})
			}
		}
	}
	return found
}

func TestLinks(t *testing.T) {
	root := os.DirFS(filepath.Join("..", ".."))
	names := []string{"README.md", "CONTRIBUTING.md"}
	err := fs.WalkDir(root, "docs", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".md" {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	exists := func(file string) bool {
		_, err := fs.Stat(root, file)
		return err == nil
	}
	for _, name := range names {
		text, err := fs.ReadFile(root, name)
		if err != nil {
			t.Fatal(err)
		}
		report(t, checkLinks(name, string(text), exists))
	}
}

func TestCheckLinks(t *testing.T) {
	exists := func(file string) bool { return file == "README.md" || file == "docs" || file == "docs/a.md" }
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"README.md", "[a](docs/a.md), [b](docs/), [c](./docs/a.md#part)\n", nil},
		{"docs/a.md", "[a](a.md), [b](../README.md), [c](#part), [d](../docs)\n", nil},
		{"README.md", "[a](https://a.example/b), [b](mailto:a@example.org), [c](//a.example/b)\n", nil},
		{"README.md", "\n[a](docs/a.md) and [b](docs/b.md)\n", []string{"README.md:2 docs/b.md"}},
		{
			"README.md", "[a](docs/b.md \"title\"), ![b](c.png)\n",
			[]string{"README.md:1 docs/b.md", "README.md:1 c.png"},
		},
		{"docs/a.md", "[a](docs/a.md)\n", []string{"docs/a.md:1 docs/a.md"}},
		{"docs/a.md", "[a](../../other/README.md)\n", []string{"docs/a.md:1 ../../other/README.md"}},
		{"README.md", "[a][b]\n\n[b]: docs/b.md\n[c]: docs/a.md\n", []string{"README.md:3 docs/b.md"}},
		{"README.md", "```\n[a](docs/b.md)\n```\n[a](docs/c.md)\n", []string{"README.md:4 docs/c.md"}},
	} {
		t.Run(c.text, func(t *testing.T) { wantFindings(t, checkLinks(c.name, c.text, exists), c.want...) })
	}
}
