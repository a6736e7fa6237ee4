package cli_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/cli/clitest"
)

// Flags override their settings, and only if they were used.
func TestFlagsOverrideSettings(t *testing.T) {
	for _, tt := range []struct {
		args, want string
	}{
		{"", "[] 0s"}, {"--dns=192.0.2.1,192.0.2.2:5353", "[192.0.2.1:53 192.0.2.2:5353] 0s"}, {"--ttl=5m", "[] 5m0s"},
	} {
		cmd := &cobra.Command{Use: "show"}
		s := cli.AddSettings(cmd)
		cmd.Flags().Duration("ttl", 0, "")
		var got string
		cmd.RunE = func(*cobra.Command, []string) error {
			c, err := s.Load(map[string]string{"dns.min_ttl": "ttl"})
			got = fmt.Sprint(c.DNS.Servers, " ", c.DNS.MinTTL)
			return err
		}
		args := []string{"--config="}
		if tt.args != "" {
			args = append(args, tt.args)
		}
		if _, _, err := clitest.Run(t, cmd, "", args...); err != nil || got != tt.want {
			t.Errorf("%s: %s, want %s; %v", tt.args, got, tt.want, err)
		}
	}
}

// The exit status is that of the error, also if it was wrapped.
func TestStatusOf(t *testing.T) {
	failure := errors.New("a")
	for want, err := range map[int]error{1: failure, cli.StatusUsage: fmt.Errorf("b: %w", cli.Usage(failure))} {
		if got := cli.StatusOf(err); got != want || !errors.Is(err, failure) {
			t.Errorf("%v: %d", err, got)
		}
	}
	if cli.Usage(nil) != nil {
		t.Error("no error is one")
	}
}

// Text from origins cannot control a terminal, and an invalid input has one line of output.
func TestOutput(t *testing.T) {
	cmd := &cobra.Command{Use: "fail"}
	l := cli.LineRunner{
		Output: cli.AddOutput(cmd, "one object", cli.CSV, cli.JSON), Activity: "failing",
		Run: func(context.Context, string) (cli.Result, error) {
			return cli.Result{}, errors.New("a\nb\x7f\x1b[2J")
		},
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return l.RunAll(cmd, args) }
	for format, want := range map[string]string{
		"text": `error: a\u000ab\u007f\u001b[2J`,
		"json": `{"input":"x","error":{"message":"a\nb` + "\x7f" + `\u001b[2J","offset":0,"rule":"","section":""}}`,
		"csv":  "input,output,error\nx,,\"a\nb\x7f\x1b[2J\"",
	} {
		got, _, err := clitest.Run(t, cmd, "", "x", "--output="+format)
		if !errors.Is(err, cli.ErrReported) || got != want+"\n" {
			t.Errorf("%s: %q, %v", format, got, err)
		}
		cmd.ResetFlags()
		l.Output = cli.AddOutput(cmd, "one object", cli.CSV, cli.JSON)
	}
}
