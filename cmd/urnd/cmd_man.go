package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/urnd/urnd/config"
)

// newMan is for those who build packages.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIRECTORY",
		Short:   "Write the manual pages into a directory",
		Example: "  urnd man /usr/local/share/man/man1",
		Hidden:  true,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cmd.Root().DisableAutoGenTag = true
			header := doc.GenManHeader{Title: "URND", Section: "1", Source: "urnd " + versionText(), Manual: "urnd"}
			if err := doc.GenManTree(cmd.Root(), &header, args[0]); err != nil {
				return err
			}
			const readable = 0o644
			return os.WriteFile(filepath.Join(args[0], "urnd.yaml.5"), md2man.Render(settingsManual()), readable)
		},
	}
}

// settingsManual is urnd.yaml(5), in Markdown.
func settingsManual() []byte {
	var b strings.Builder
	b.WriteString(`% URND.YAML 5

# NAME

urnd.yaml - configuration of urnd

# DESCRIPTION

The file is YAML, or TOML where its name ends in **.toml**. It need only set what differs
from the defaults. The environment overrides the file (**dns.timeout** is
**URND_DNS_TIMEOUT**; lists are separated by commas), and flags override the environment.
**urnd config check** *FILE* reports all errors of a file, and
**urnd config show --origin** the origin of each value. SIGHUP reloads the file; one with
errors changes nothing.

Durations are written 300ms, 30s, 5m or 24h, sizes 64KiB, 64MiB or 1GiB. Secrets are in
files of their own, which are given by a path or as **credential:** and the name of a
credential of systemd.

# SETTINGS
`)
	for _, s := range config.Settings() {
		if s.IsSection() {
			fmt.Fprintf(&b, "\n## %s\n\n%s\n", s.Path, plainText(s.Doc))
			continue
		}
		fmt.Fprintf(&b, "\n**%s**\n: %s.", s.Path, plainText(strings.TrimRight(s.Doc, ".:")))
		if bound := s.Bound(); bound != "" {
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
				if bound := element.Bound(); bound != "" {
					fmt.Fprintf(&b, " Values: %s.", plainText(bound))
				}
				b.WriteString("\n")
			}
		}
	}
	b.WriteString("\n# FILES\n\n*/etc/urnd/urnd.yaml*, *FILE* of **urnd serve --config** *FILE*\n\n# SEE ALSO\n\n**urnd**(1), **urnd-serve**(1), **systemd.exec**(5)\n")
	return []byte(b.String())
}

// plainText escapes Markdown.
func plainText(s string) string {
	return strings.NewReplacer("*", `\*`, "_", `\_`, "<", `\<`, "`", "\\`", "[", `\[`, "]", `\]`, "#", `\#`).Replace(s)
}
