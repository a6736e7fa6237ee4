package promise

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// command is a command of urnd, as its help text describes it.
type command struct {
	path  []string // without "urnd"
	usage string   // arguments
	flags []commandFlag
}

type commandFlag struct {
	name, short string
	value       string // placeholder of its value, "" for a flag without a value
	kind        string // type of its value according to its parser
	standard    string // default value, "" if the help text has none
	repeatable  bool
}

// gatherCommands reads the help texts of all commands, and the exit statuses, environment variables and files
// in the manual page.
func gatherCommands(t *testing.T, p *program) []string {
	lines := p.manual(t)
	for _, c := range p.commands {
		name := strings.Join(append([]string{"urnd"}, c.path...), " ")
		lines = append(lines, strings.TrimSpace(name+" "+c.usage))
		for _, f := range c.flags {
			line := name + " --" + f.name
			if f.short != "" {
				line += " -" + f.short
			}
			if f.value != "" {
				line += "=" + f.value
			}
			line += " " + f.kind
			if f.standard != "" {
				line += " default=" + f.standard
			}
			if f.repeatable {
				line += " repeatable"
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// manual returns the entries of urnd(1) that no help text contains. Each entry is a tagged paragraph in the
// source of the page.
func (p *program) manual(t *testing.T) (lines []string) {
	t.Helper()
	directory := t.TempDir()
	p.must(t, "man", directory)
	section, isItem := "", false
	word := regexp.MustCompile(`\\f[BI](.*?)\\f[PR]`)
	for line := range strings.Lines(read(t, directory, "urnd.1")) {
		if name, ok := strings.CutPrefix(line, ".SH "); ok {
			section = strings.TrimSpace(name)
		}
		if isItem && slices.Contains([]string{"EXIT STATUS", "ENVIRONMENT", "FILES"}, section) {
			for _, m := range word.FindAllStringSubmatch(line, -1) {
				lines = append(lines, "manual "+section+": "+m[1])
			}
		}
		isItem = strings.HasPrefix(line, ".TP")
	}
	return lines
}

// readCommands returns all commands, including hidden ones.
func (p *program) readCommands(t *testing.T) []command {
	t.Helper()
	all := []command{p.command(t)}
	for i := 0; i < len(all); i++ {
		for _, below := range p.subcommands(t, all[i].path) {
			all = append(all, p.command(t, append(append([]string{}, all[i].path...), below)...))
		}
	}
	return append(all, p.command(t, "man"))
}

// subcommands returns the subcommands of a command.
func (p *program) subcommands(t *testing.T, path []string) (names []string) {
	t.Helper()
	command := regexp.MustCompile(`^  ([a-z][a-z-]*) +[A-Z]`)
	title := ""
	for line := range strings.Lines(p.must(t, append(path[:len(path):len(path)], "--help")...)) {
		if line = strings.TrimRight(line, "\n"); strings.HasSuffix(line, ":") && line[0] != ' ' {
			title = line // title of a group of commands, or of another section
		}
		found := command.FindStringSubmatch(line)
		if found != nil && !slices.Contains([]string{"", "Usage:", "Examples:", "Flags:"}, title) {
			names = append(names, found[1])
		}
	}
	return names
}

// command reads the help text of a command.
func (p *program) command(t *testing.T, path ...string) command {
	t.Helper()
	help := p.must(t, append(path[:len(path):len(path)], "--help")...)
	c := command{path: path}
	_, usage, _ := strings.Cut(help, "Usage:\n")
	usage, _, _ = strings.Cut(usage, "\n")
	c.usage = strings.TrimPrefix(strings.TrimSpace(usage), strings.Join(append([]string{"urnd"}, path...), " "))
	c.usage = strings.TrimSpace(c.usage)
	_, list, _ := strings.Cut(help, "\nFlags:\n")
	line := regexp.MustCompile(`^ +(?:-(\w), )?--([\w-]+)(?: (\S+))? {2,}(.*)$`)
	for text := range strings.Lines(list) {
		m := line.FindStringSubmatch(strings.TrimRight(text, "\n"))
		if m == nil {
			break
		}
		f := commandFlag{short: m[1], name: m[2], value: m[3], kind: "bool"}
		f.repeatable = strings.Contains(m[4], "may be repeated")
		if found := regexp.MustCompile(`\(default (.*)\)$`).FindStringSubmatch(m[4]); found != nil {
			f.standard = found[1]
		}
		c.flags = append(c.flags, f)
	}
	p.probe(t, &c)
	return c
}

// probe determines which values the flags of a command accept: it passes a meaningless text together with
// --help, so that nothing is executed. The error names the parser of the first flag that rejects it.
func (p *program) probe(t *testing.T, c *command) {
	t.Helper()
	var open []*commandFlag
	for i := range c.flags {
		if c.flags[i].value != "" {
			open = append(open, &c.flags[i])
		}
	}
	refusal := regexp.MustCompile(`(?m)^urnd: --([\w-]+)(?: "☃")?: (?:it takes a (number|duration)\b|(.*))`)
	for len(open) > 0 {
		args := c.path[:len(c.path):len(c.path)]
		for _, f := range open {
			args = append(args, "--"+f.name+"=☃")
		}
		r := p.run(t, nil, append(args, "--help")...)
		if r.status == 0 {
			break
		}
		m := refusal.FindStringSubmatch(r.stderr)
		if m == nil {
			t.Fatalf("urnd %s: %s", strings.Join(args, " "), r.stderr)
		}
		rest := open[:0]
		for _, f := range open {
			if f.name == m[1] {
				f.kind = m[2]
				if m[3] != "" {
					f.kind = "value"
				}
			} else {
				rest = append(rest, f)
			}
		}
		if len(rest) == len(open) {
			t.Fatalf("urnd %s: %s", strings.Join(args, " "), r.stderr)
		}
		open = rest
	}
	for _, f := range open {
		f.kind = "text"
	}
}
