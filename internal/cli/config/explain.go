package config

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
)

// settingJSON is the JSON document of a setting.
type settingJSON struct {
	Setting  string `json:"setting"`
	Doc      string `json:"doc"`
	Values   string `json:"values,omitempty"`
	Default  string `json:"default,omitempty"`
	Variable string `json:"variable,omitempty"`
	Reload   string `json:"reload,omitempty"` // what a reload does that changes it
	Sample   string `json:"sample,omitempty"`
}

func newExplain() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "explain [SETTING...]",
		SuggestFor: []string{"describe", "doc", "setting"},
		Short:      "Print what settings mean",
		Long: `Print what settings mean, and of each its values, its default, its variable of the environment, and what a
reload does that changes it. SETTING is a setting (dns.timeout), a section (dns), or the last part of several (timeout);
without one, all are printed.`,
		Example: `  urnd config explain dns.timeout
  urnd config explain proxy.origins
  urnd config explain --output csv > settings.csv`,
		ValidArgsFunction: func(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
			for _, s := range config.Settings() {
				names = append(names, s.Path)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	output := cli.AddOutput(cmd, "one object for each setting", cli.CSV, cli.JSON)
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		found := config.Settings()
		if len(names) > 0 {
			found = nil
		}
		for _, name := range names {
			of, err := config.Find(name)
			if err != nil {
				return cli.Hint(cli.Usage(err), "urnd config explain prints all settings")
			}
			found = append(found, of...)
		}
		table, err := output.Rows(cmd.OutOrStdout(), "setting", "doc", "values", "default", "variable", "reload", "sample")
		if err != nil {
			return err
		}
		for i, s := range found {
			if output.Format == cli.Text {
				_, err = io.WriteString(cmd.OutOrStdout(), strings.Repeat("\n", min(i, 1))+s.Describe())
			} else {
				d := documentOf(s)
				err = table.Row(d, d.Setting, d.Doc, d.Values, d.Default, d.Variable, d.Reload, strings.TrimSpace(d.Sample))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}

// documentOf returns the document of a setting; a section has but its text.
func documentOf(s config.Setting) settingJSON {
	d := settingJSON{Setting: s.Path, Doc: s.Doc, Values: s.Bound(), Variable: s.Variable(), Sample: s.Sample}
	if d.Variable != "" {
		d.Default, d.Reload = config.Default().Text(s.Path), s.OnReload()
	}
	return d
}
