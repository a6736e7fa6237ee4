// Package names has the commands of urnd namespaces, which list URN namespaces (RFC 8141) and their rules. A
// configuration and a NID enter, and tables, CSV or JSON leave. The list includes built-in namespaces and
// those of the configuration.
package names

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/urnns"
)

// namespaceJSON is the JSON document of a namespace.
type namespaceJSON struct {
	NID     string `json:"nid"`
	Fold    string `json:"fold"`
	Strip   string `json:"strip"`
	Pattern string `json:"pattern"`
	Check   string `json:"check"`   // the function that checks the syntax or the check digits of names
	Lenient bool   `json:"lenient"` // names that fail the check are accepted
	// LenientDigits means that names are accepted if only the check digit is wrong.
	LenientDigits bool         `json:"lenientDigits,omitempty"`
	Targets       []targetJSON `json:"targets"`
	Source        string       `json:"source"`
}

type targetJSON struct {
	Pattern  string `json:"pattern"`
	Template string `json:"template"`
	Type     string `json:"type,omitempty"`
	Language string `json:"language,omitempty"`
	Rel      string `json:"rel,omitempty"`
	Title    string `json:"title,omitempty"`
	Context  string `json:"context,omitempty"`
	Gone     bool   `json:"gone,omitempty"`
}

// Command returns the command. names returns the rules for names of a configuration.
func Command(names cli.NamesOf) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "namespaces",
		Short: "List known URN namespaces",
		Long: `List the known URN namespaces, including those of the configuration: the
NID, the equivalence rule, the number of targets, and the defining document.`,
		Example: "  urnd namespaces\n  urnd namespaces show isbn",
		Args:    cobra.NoArgs,
	}
	s := cli.AddFile(cmd)
	output := cli.AddOutput(cmd, "one object for each namespace", cli.CSV, cli.JSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		rules, err := s.Names(names)
		if err != nil {
			return err
		}
		table, err := output.Table(cmd.OutOrStdout(), "NID", "RULE", "TARGETS", "SOURCE")
		for _, nid := range rules.Set.NIDs() {
			ns, _ := rules.Set.Lookup(nid)
			err = errors.Join(err, table.Row(documentOf(ns), nid, ruleOf(ns), strconv.Itoa(len(ns.Targets)), ns.Source))
		}
		return errors.Join(err, table.End())
	}
	cmd.AddCommand(newShow(names))
	return cmd
}

func newShow(names cli.NamesOf) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show NID",
		Short:   "Print the rules and targets of a namespace",
		Example: "  urnd namespaces show isbn",
		Args:    cobra.ExactArgs(1),
	}
	s := cli.AddFile(cmd)
	output := cli.AddOutput(cmd, "one object", cli.JSON)
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		if rules, err := s.Names(names); err == nil {
			return rules.Set.NIDs(), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		rules, err := s.Names(names)
		if err != nil {
			return err
		}
		nid := strings.ToLower(args[0])
		ns, ok := rules.Set.Lookup(nid)
		if !ok {
			err := fmt.Errorf("namespace %q is unknown: its names are compared by RFC 8141 alone, and resolved by DDDS",
				nid)
			return cli.Hint(err, "urnd namespaces lists known ones; add others to namespaces of the configuration")
		}
		return output.Document(cmd.OutOrStdout(), documentOf(ns), func(w io.Writer) error {
			fmt.Fprintf(w, "nid:     %s\nrule:    %s\n", ns.NID, ruleOf(ns))
			if ns.Pattern != "" {
				fmt.Fprintf(w, "pattern: %s\n", ns.Pattern)
			}
			for _, target := range ns.Targets {
				fmt.Fprintf(w, "target:  %s\n", describeTarget(target))
			}
			_, err := fmt.Fprintf(w, "source:  %s\n", ns.Source)
			return err
		})
	}
	return cmd
}

// describeTarget describes a target in one line, the template first.
func describeTarget(t urnns.Target) string {
	words := []string{t.Template, t.Rel, t.Type, t.Language, t.Context, t.Title, t.Pattern}
	if t.Gone {
		words[0] = "gone"
	}
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " ")
}

// documentOf returns the JSON document of a namespace.
func documentOf(ns urnns.Namespace) namespaceJSON {
	document := namespaceJSON{
		NID: ns.NID, Fold: ns.Fold.String(), Strip: ns.Strip, Pattern: ns.Pattern,
		Check: ns.Check, Lenient: ns.Lenient, LenientDigits: ns.LenientDigits, Targets: []targetJSON{},
		Source: ns.Source,
	}
	for _, target := range ns.Targets {
		document.Targets = append(document.Targets, targetJSON(target))
	}
	return document
}

// ruleOf summarizes which names are equivalent, beyond RFC 8141.
func ruleOf(ns urnns.Namespace) string {
	var rules []string
	if ns.Fold != urnns.FoldNone {
		rules = append(rules, "case "+ns.Fold.String())
	}
	if ns.Strip != "" {
		rules = append(rules, fmt.Sprintf("without %q", ns.Strip))
	}
	switch {
	case ns.LenientDigits:
		rules = append(rules, "checked, digits with a warning")
	case ns.Check != "" && ns.Lenient:
		rules = append(rules, "checked, with a warning")
	case ns.Check != "" || ns.Pattern != "":
		rules = append(rules, "checked")
	}
	if len(rules) == 0 {
		return "RFC 8141"
	}
	return strings.Join(rules, ", ")
}
