package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/systemd"
)

func newConfig() *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Check and show configurations", RunE: requireSubcommand}
	cmd.AddCommand(newConfigCheck(), newConfigShow(), newConfigExample(), newConfigSchema())
	return cmd
}

func newConfigCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Report all errors of a configuration file",
		Long: `Report all errors of a configuration file, with the environment applied to it.
The exit status is 0 if urnd would start with it, as far as can be checked without
listening; credentials that systemd passes on when it starts urnd are assumed to exist.`,
		Example: "  urnd config check /etc/urnd/urnd.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := config.Load(args[0], nil)
			if err != nil {
				return err
			}
			if err := dryRun(c); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is a valid configuration\n", args[0])
			return err
		},
	}
}

// dryRun does what the daemon does with a configuration before it listens.
// Credentials that only systemd can pass on are assumed to exist.
func dryRun(c config.Config) error {
	for _, secret := range []*string{&c.Access.AdminToken, &c.Access.ProxyUsers, &c.TLS.Certificate, &c.TLS.Key, &c.TLS.ClientCA} {
		if strings.HasPrefix(*secret, config.CredentialPrefix) && !systemd.HasCredentials() {
			*secret = ""
		}
	}
	if c.TLS.Certificate != "" && c.TLS.Key != "" {
		if _, err := tlsConfig(c.TLS, time.Now); err != nil {
			return err
		}
	}
	if directory := filepath.Dir(c.Log.AccessFile); c.Log.AccessFile != "" && c.Log.Access != "off" {
		if _, err := os.Stat(directory); err != nil {
			return fmt.Errorf("log.access_file: %w", err)
		}
	}
	d := newDependencies()
	r, err := newResolution(c, d)
	if err != nil {
		return err
	}
	defer r.close()
	s, err := newService(c, r, d)
	if err != nil {
		return err
	}
	defer s.close()
	_, err = newAdmin(c, r, d)
	return err
}

func newConfigShow() *cobra.Command {
	var origin bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print the configuration that urnd would run with",
		Long: `Print the configuration that urnd would run with, as YAML: the defaults, changed
by the file, the environment and the flags. With --origin each value is on a line of
its own, with its origin. Secrets are in files, and never shown.`,
		Example: "  urnd config show\n  urnd config show --origin\n  URND_DNS_TIMEOUT=5s urnd config show --config /etc/urnd/urnd.yaml",
		Args:    cobra.NoArgs,
	}
	s := addSettings(cmd)
	cmd.Flags().BoolVar(&origin, "origin", false, "print the origin of each value")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, origins, err := s.loadOrigins(map[string]string{})
		if err != nil {
			return err
		}
		if origin {
			return showOrigins(cmd.OutOrStdout(), c, origins)
		}
		encoder := yaml.NewEncoder(cmd.OutOrStdout())
		encoder.SetIndent(2)
		return encoder.Encode(c.Map())
	}
	return cmd
}

// showOrigins prints every setting with its origin.
func showOrigins(w io.Writer, c config.Config, origins config.Origins) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range config.Settings() {
		if s.IsSection() {
			continue
		}
		from := origins.Of(s.Path).String()
		if name, ok := strings.CutPrefix(c.Text(s.Path), config.CredentialPrefix); ok {
			from += ", credential " + name
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", s.Path, c.Text(s.Path), from)
	}
	return table.Flush()
}

func newConfigSchema() *cobra.Command {
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

func newConfigExample() *cobra.Command {
	return &cobra.Command{
		Use:     "example",
		Short:   "Print a complete configuration file with comments",
		Example: "  urnd config example > urnd.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), config.Example())
			return err
		},
	}
}
