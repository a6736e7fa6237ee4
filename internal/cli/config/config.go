// Package config has the commands of urnd config, which check, show, explain and import configurations. A
// configuration file, the environment and flags enter; the effective settings, errors and warnings,
// documentation or a JSON Schema leave. It implements no RFC; configuration files are YAML or TOML.
package config

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
)

// Command returns the command.
func Command(w Wiring) *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Check and show configurations", RunE: cli.RequireSubcommand}
	cmd.AddCommand(newCheck(w), newShow(), newExplain(), newExample(), newSchema(), newImport())
	return cmd
}

func newShow() *cobra.Command {
	var origin, all bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print the effective configuration",
		Long: `Print, as YAML, the settings of the effective configuration that differ from the
defaults: those set by the file, the environment and flags. With --all the defaults are
printed, too. With --origin each value is on its own line, with its origin. Secrets
are in files, and never printed.`,
		Example: "  urnd config show\n  urnd config show --all --origin\n  URND_DNS_TIMEOUT=5s urnd config show " +
			"--config /etc/urnd/urnd.yaml",
		Args: cobra.NoArgs,
	}
	s := cli.AddSettings(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "also print settings with default values")
	cmd.Flags().BoolVar(&origin, "origin", false, "print the origin of each value")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, origins, err := s.LoadOrigins(nil)
		if err != nil {
			return err
		}
		values := c.Values(origins)
		if !all {
			values = slices.DeleteFunc(values, func(v config.Value) bool { return v.IsDefault })
		}
		switch {
		case len(values) == 0:
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "# All settings have their defaults: --all shows them.")
			return err
		case origin:
			return showOrigins(cmd.OutOrStdout(), values)
		}
		encoder := yaml.NewEncoder(cmd.OutOrStdout())
		encoder.SetIndent(2)
		return encoder.Encode(bySection(values))
	}
	return cmd
}

// bySection returns values in the structure of configuration files.
func bySection(values []config.Value) map[string]any {
	file := make(map[string]any)
	for _, v := range values {
		section, key, ok := strings.Cut(v.Path, ".")
		if !ok {
			file[section] = v.Value // namespaces
			continue
		}
		settings, _ := file[section].(map[string]any)
		if settings == nil {
			settings = make(map[string]any)
			file[section] = settings
		}
		settings[key] = v.Value
	}
	return file
}

// showOrigins prints settings with their origins.
func showOrigins(w io.Writer, values []config.Value) error {
	for _, v := range values {
		// Values are not aligned, since one long list would make all lines long.
		if _, err := fmt.Fprintf(w, "%-26s %s (%s)\n", v.Path, v.Text, v.Source()); err != nil {
			return err
		}
	}
	return nil
}

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print a JSON Schema of configuration files, for editors and validators",
		Example: "  urnd config schema > urnd.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(config.Schema())
			return err
		},
	}
}

func newExample() *cobra.Command {
	var commented bool
	cmd := &cobra.Command{
		Use:     "example",
		Short:   "Print a complete configuration file with comments",
		Example: "  urnd config example > urnd.yaml",
		Args:    cobra.NoArgs,
	}
	cmd.Flags().BoolVar(&commented, "commented", false,
		"comment out all settings, so that the defaults of the program apply")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		text := config.Example()
		if commented {
			text = config.CommentedExample()
		}
		_, err := fmt.Fprint(cmd.OutOrStdout(), text)
		return err
	}
	return cmd
}

// settingJSON is the JSON document of a setting.
type settingJSON struct {
	Setting  string `json:"setting"`
	Doc      string `json:"doc"`
	Values   string `json:"values,omitempty"`
	Default  string `json:"default,omitempty"`
	Variable string `json:"variable,omitempty"`
	Reload   string `json:"reload,omitempty"` // how a reload applies a change
	Sample   string `json:"sample,omitempty"`
}

func newExplain() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "explain [SETTING...]",
		SuggestFor: []string{"describe", "doc", "setting"},
		Short:      "Print the descriptions of settings",
		Long: `Print descriptions of settings, with values, default, environment variable, and the caches that a
reload with a changed value discards. SETTING is a setting (dns.timeout), a section (dns), or the
last part of several (timeout); without one, all are printed.`,
		Example: `  urnd config explain dns.timeout
  urnd config explain proxy.sites
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
		table, err := output.Rows(cmd.OutOrStdout(), "setting", "doc", "values", "default", "variable",
			"reload", "sample")
		if err != nil {
			return err
		}
		for i, s := range found {
			if output.Format == cli.Text {
				_, err = io.WriteString(cmd.OutOrStdout(), strings.Repeat("\n", min(i, 1))+s.Describe())
			} else {
				d := documentOf(s)
				err = table.Row(d, d.Setting, d.Doc, d.Values, d.Default, d.Variable, d.Reload,
					strings.TrimSpace(d.Sample))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}

// documentOf returns the document of a setting; a section has only its text.
func documentOf(s config.Setting) settingJSON {
	d := settingJSON{Setting: s.Path, Doc: s.Doc, Values: s.DescribeBounds(), Variable: s.Variable(), Sample: s.Sample}
	if d.Variable != "" {
		d.Default, d.Reload = config.Default().Text(s.Path), s.OnReload()
	}
	return d
}
