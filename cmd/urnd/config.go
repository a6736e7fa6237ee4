package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/urnd/urnd/config"
)

func newConfig() *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Check and show configurations", RunE: needsCommand}
	cmd.AddCommand(newConfigCheck(), newConfigShow(), newConfigExample())
	return cmd
}

func newConfigCheck() *cobra.Command {
	return &cobra.Command{
		Use:     "check FILE",
		Short:   "Say everything that is wrong with a configuration file",
		Long:    "Say everything that is wrong with a configuration file, as the environment changes\nit. The status is 0 if urnd would start with it.",
		Example: "  urnd config check /etc/urnd/urnd.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := config.Load(args[0], nil)
			if err != nil {
				return err
			}
			p, err := wire(c, alone())
			if err != nil {
				return err
			}
			p.close()
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is a valid configuration\n", args[0])
			return err
		},
	}
}

func newConfigShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print the configuration that urnd would run with",
		Long: `Print the configuration that urnd would run with, as YAML: the defaults, changed
by the file, the environment and the flags.`,
		Example: "  urnd config show\n  URND_DNS_TIMEOUT=5s urnd config show --config /etc/urnd/urnd.yaml",
		Args:    cobra.NoArgs,
	}
	s := addSettings(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := s.load(map[string]string{})
		if err != nil {
			return err
		}
		encoder := yaml.NewEncoder(cmd.OutOrStdout())
		encoder.SetIndent(2)
		return encoder.Encode(c.Map())
	}
	return cmd
}

func newConfigExample() *cobra.Command {
	return &cobra.Command{
		Use:     "example",
		Short:   "Print a complete configuration file with comments",
		Example: "  urnd config example > urnd.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), config.Example)
			return err
		},
	}
}
