// Package names has the commands of urnd namespaces, which list the URN namespaces that are known.
package names

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

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
	Check   string `json:"check"`   // which function checks the syntax or the check digits of names
	Lenient bool   `json:"lenient"` // names that fail the check are accepted
	// LenientDigits says that those are of which only the check digit is wrong.
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
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "namespaces",
		Short: "List the URN namespaces that urnd knows",
		Long: `List the URN namespaces that urnd knows, those of the configuration included: the
NID, the rule of equivalence, the number of targets, and the document that defines it.`,
		Example: "  urnd namespaces\n  urnd namespaces show isbn",
		Args:    cobra.NoArgs,
	}
	s := cli.AddFile(cmd)
	cmd.PersistentFlags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		rules, err := s.Names(names)
		if err != nil {
			return err
		}
		set := rules.Set
		if asJSON {
			return printNamespacesJSON(cmd.OutOrStdout(), set, set.NIDs())
		}
		table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "NID\tRULE\tTARGETS\tSOURCE")
		for _, nid := range set.NIDs() {
			ns, _ := set.Lookup(nid)
			fmt.Fprintf(table, "%s\t%s\t%d\t%s\n", nid, ruleOf(ns), len(ns.Targets), ns.Source)
		}
		return table.Flush()
	}
	cmd.AddCommand(newShow(names, &asJSON))
	return cmd
}

func newShow(names cli.NamesOf, asJSON *bool) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show NID",
		Short:   "Print the rules and targets of a namespace",
		Example: "  urnd namespaces show isbn",
		Args:    cobra.ExactArgs(1),
	}
	s := cli.AddFile(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		rules, err := s.Names(names)
		if err != nil {
			return err
		}
		set := rules.Set
		nid := strings.ToLower(args[0])
		ns, ok := set.Lookup(nid)
		if !ok {
			return fmt.Errorf("namespace %q is not in the list: its names are compared by RFC 8141 alone, and resolved by DDDS", nid)
		}
		if *asJSON {
			return printNamespacesJSON(cmd.OutOrStdout(), set, []string{nid})
		}
		out := cmd.OutOrStdout()
		fmt.Fprintf(out, "nid:     %s\nrule:    %s\n", ns.NID, ruleOf(ns))
		if ns.Pattern != "" {
			fmt.Fprintf(out, "pattern: %s\n", ns.Pattern)
		}
		for _, target := range ns.Targets {
			fmt.Fprintf(out, "target:  %s\n", describeTarget(target))
		}
		_, err = fmt.Fprintf(out, "source:  %s\n", ns.Source)
		return err
	}
	return cmd
}

// describeTarget returns a target in one line: its template first.
func describeTarget(t urnns.Target) string {
	words := []string{t.Template, t.Rel, t.Type, t.Language, t.Context, t.Title, t.Pattern}
	if t.Gone {
		words[0] = "gone"
	}
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " ")
}

func printNamespacesJSON(out io.Writer, set *urnns.Set, nids []string) error {
	for _, nid := range nids {
		ns, _ := set.Lookup(nid)
		document := namespaceJSON{
			NID: ns.NID, Fold: ns.Fold.String(), Strip: ns.Strip, Pattern: ns.Pattern,
			Check: ns.Check, Lenient: ns.Lenient, LenientDigits: ns.LenientDigits, Targets: []targetJSON{}, Source: ns.Source,
		}
		for _, target := range ns.Targets {
			document.Targets = append(document.Targets, targetJSON(target))
		}
		if err := cli.PrintJSON(out, document); err != nil {
			return err
		}
	}
	return nil
}

// ruleOf describes in a few words which names are equivalent, beyond RFC 8141.
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
