// Package man has the command urnd man, which writes the manual pages. The command tree and the documentation
// of settings enter, and pages in the format of man(7) leave, for packages. It implements no RFC.
package man

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/urnd/urnd/config"
)

// Command returns the command, which is meant for packagers. version is the version of the program.
func Command(version string) *cobra.Command {
	return &cobra.Command{
		Use:     "man DIRECTORY",
		Short:   "Write the manual pages to a directory",
		Example: "  urnd man /usr/local/share/man/man1",
		Hidden:  true,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cmd.Root().DisableAutoGenTag = true
			header := doc.GenManHeader{Title: "URND", Section: "1", Source: "urnd " + version, Manual: "urnd"}
			if err := doc.GenManTree(cmd.Root(), &header, args[0]); err != nil {
				return err
			}
			if err := appendTo(filepath.Join(args[0], "urnd.1"),
				md2man.Render([]byte(programManual+"\n"+seeAlso(cmd.Root())))); err != nil {
				return err
			}
			const readable = 0o644
			return os.WriteFile(filepath.Join(args[0], "urnd.yaml.5"), md2man.Render(settingsManual()), readable)
		},
	}
}

// programManual is the last part of urnd(1), and settingsIntroduction the first part of urnd.yaml(5), in
// Markdown.
var (
	//go:embed urnd.1.md
	programManual string
	//go:embed urnd.yaml.5.md
	settingsIntroduction string
)

// seeAlso lists the manual pages of all commands, and related ones.
func seeAlso(root *cobra.Command) string {
	var pages []string
	var add func(cmd *cobra.Command)
	add = func(cmd *cobra.Command) {
		for _, below := range cmd.Commands() {
			if below.IsAvailableCommand() && below.Name() != "completion" {
				pages = append(pages, "**"+strings.ReplaceAll(below.CommandPath(), " ", "-")+"**(1)")
				add(below)
			}
		}
	}
	add(root)
	pages = append(pages, "**urnd.yaml**(5)", "**systemctl**(1)", "**journalctl**(1)", "**logrotate**(8)",
		"**systemd.exec**(5)", "**systemd.socket**(5)")
	return strings.Join(pages, ", ") + ", RFC 8141, RFC 3401 to RFC 3405, RFC 2169, RFC 2483, RFC 9110, RFC 9111\n"
}

// appendTo appends a rendered manual, without its own header, to a page.
func appendTo(path string, manual []byte) error {
	page, err := os.ReadFile(path) //nolint:gosec // just written
	if err != nil {
		return err
	}
	// The generated page ends with a list of commands under the same heading.
	page, _, _ = bytes.Cut(page, []byte(".SH SEE ALSO"))
	if i := bytes.Index(manual, []byte(".SH ")); i >= 0 {
		manual = manual[i:]
	}
	const readable = 0o644
	return os.WriteFile(path, append(page, manual...), readable) //nolint:gosec // manual pages are public
}

// settingsManual returns urnd.yaml(5) in Markdown.
func settingsManual() []byte {
	var b strings.Builder
	b.WriteString(settingsIntroduction)
	for _, s := range config.Settings() {
		if s.IsSection() {
			fmt.Fprintf(&b, "\n## %s\n\n%s\n", s.Path, plainText(s.Doc))
			continue
		}
		fmt.Fprintf(&b, "\n**%s**\n: %s.", s.Path, plainText(strings.TrimRight(s.Doc, ".:")))
		if bound := s.DescribeBounds(); bound != "" {
			fmt.Fprintf(&b, " Values: %s.", plainText(bound))
		}
		if value := config.Default().Text(s.Path); s.Path != "namespaces" {
			fmt.Fprintf(&b, " Default: %s.", plainText(value))
		}
		b.WriteString("\n")
		if s.Sample != "" {
			b.WriteString("\n```\n" + s.Sample + "\n```\n")
		}
		for _, element := range config.Elements() {
			if strings.HasPrefix(element.Path, s.Path+".") {
				fmt.Fprintf(&b, "\n**%s**\n: %s.", plainText(element.Path), plainText(element.Doc))
				if bound := element.DescribeBounds(); bound != "" {
					fmt.Fprintf(&b, " Values: %s.", plainText(bound))
				}
				b.WriteString("\n")
			}
		}
	}
	b.WriteString("\n# FILES\n\n*/etc/urnd/urnd.yaml*, *FILE* of **urnd serve --config** *FILE*\n" +
		"\n# SEE ALSO\n\n**urnd**(1), **urnd-serve**(1), **urnd-config-check**(1), **urnd-config-show**(1), " +
		"**urnd-config-schema**(1), **systemd.exec**(5)\n")
	return []byte(b.String())
}

// plainText escapes Markdown.
func plainText(s string) string {
	return strings.NewReplacer("*", `\*`, "_", `\_`, "<", `\<`, "`", "\\`", "[", `\[`, "]", `\]`, "#", `\#`).Replace(s)
}
