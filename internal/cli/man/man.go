// Package man has the command urnd man, which writes the manual pages.
package man

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/urnd/urnd/config"
)

// Command returns the command, which is for those who build packages. version is that of the program.
func Command(version string) *cobra.Command {
	return &cobra.Command{
		Use:     "man DIRECTORY",
		Short:   "Write the manual pages into a directory",
		Example: "  urnd man /usr/local/share/man/man1",
		Hidden:  true,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cmd.Root().DisableAutoGenTag = true
			header := doc.GenManHeader{Title: "URND", Section: "1", Source: "urnd " + version, Manual: "urnd"}
			if err := doc.GenManTree(cmd.Root(), &header, args[0]); err != nil {
				return err
			}
			if err := appendTo(filepath.Join(args[0], "urnd.1"), md2man.Render([]byte(programManual+seeAlso(cmd.Root())))); err != nil {
				return err
			}
			const readable = 0o644
			return os.WriteFile(filepath.Join(args[0], "urnd.yaml.5"), md2man.Render(settingsManual()), readable)
		},
	}
}

// programManual is the end of urnd(1), in Markdown.
const programManual = `% URND 1

# EXIT STATUS

**0**
: The command did all that was asked. For **urnd serve**: it was stopped by SIGTERM or SIGINT.

**1**
: It failed, or some of its inputs did; the reason is on standard error, or in the line for the input. ` +
	`For **urnd config check**: the configuration is invalid. ` +
	`For **urnd access test**: the request is refused, or that depends on the address. ` +
	`For **urnd registry check**, **verify**, **expect**, **health**, **search**, **get**, **history**, **import** and **export**: ` +
	`something is not as it should be, is not there, or was left out, as their manual says.

**2**
: The command was used wrongly: an unknown command or flag, or other arguments than it takes. ` +
	`For **urnd access test** also: there is no decision, as the client, the method or the target cannot be read.

# ENVIRONMENT

**URND_CONFIG**
: The configuration file, where **--config** does not name one.

**URND_SECTION_SETTING**
: Each setting of urnd.yaml(5): **URND_DNS_TIMEOUT** is **dns.timeout**. Others that begin with **URND_** are errors.

**STATE_DIRECTORY**, **CACHE_DIRECTORY**, **CREDENTIALS_DIRECTORY**, **LISTEN_FDS**, **NOTIFY_SOCKET**, **WATCHDOG_USEC**
: Set by systemd: see systemd.exec(5), sd_listen_fds(3), sd_notify(3) and sd_watchdog_enabled(3).

# FILES

*/etc/urnd/urnd.yaml*
: The configuration.

*/etc/resolv.conf*, */etc/hosts*
: The DNS servers, where **dns.servers** names none, and the hosts that this machine knows itself.

*/var/lib/urnd/answers*
: The cached answers, from a stop to the next start.

*/var/cache/urnd*, */var/log/urnd*, */run/urnd*
: HTTP responses (**cache.disk**), the access log (**log.access_file**), and sockets, in the directories that systemd makes for the service.

*/etc/logrotate.d/urnd*
: How the access log is rotated.

*/usr/share/doc/urnd/docs/operations.md*
: How to run it.

# SEE ALSO

`

// seeAlso lists the manual pages of all commands, and others.
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
	page, err := os.ReadFile(path) //nolint:gosec // written just now
	if err != nil {
		return err
	}
	// The generated page ends in a list of commands under the same heading.
	page, _, _ = bytes.Cut(page, []byte(".SH SEE ALSO"))
	if i := bytes.Index(manual, []byte(".SH ")); i >= 0 {
		manual = manual[i:]
	}
	const readable = 0o644
	return os.WriteFile(path, append(page, manual...), readable) //nolint:gosec // a manual page
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
**urnd config show --origin** the origin of each value that differs from its default. SIGHUP reloads the file; one with
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
	b.WriteString("\n# FILES\n\n*/etc/urnd/urnd.yaml*, *FILE* of **urnd serve --config** *FILE*\n" +
		"\n# SEE ALSO\n\n**urnd**(1), **urnd-serve**(1), **urnd-config-check**(1), **urnd-config-show**(1), " +
		"**urnd-config-schema**(1), **systemd.exec**(5)\n")
	return []byte(b.String())
}

// plainText escapes Markdown.
func plainText(s string) string {
	return strings.NewReplacer("*", `\*`, "_", `\_`, "<", `\<`, "`", "\\`", "[", `\[`, "]", `\]`, "#", `\#`).Replace(s)
}
