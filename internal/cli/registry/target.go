package registry

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
)

// targetFlags are the targets of a command line, in order: each --target begins one, and the following flags
// belong to it.
type targetFlags struct{ targets []registry.Target }

// addTargets adds the flags of targets to cmd, one for each field.
func addTargets(cmd *cobra.Command) *targetFlags {
	f := new(targetFlags)
	for _, of := range field.TargetFields() {
		usage := strings.ReplaceAll(of.FlagUsage(), "the target", "the --target before")
		if of.Required {
			usage += "; repeatable"
		}
		cmd.Flags().Var(&targetValue{f, of}, of.FlagName(), usage)
	}
	return f
}

// setTarget sets a field of a target. Times have the syntax of the other time flags.
func setTarget(f *field.Field[registry.Target], t *registry.Target, text string) error {
	if f.Type == field.Time {
		if _, err := plaintext.ParseTime(text); err != nil { // "" is no time
			return err
		}
	}
	return errors.Unwrap(f.SetText(t, text))
}

// targetValue is a flag that begins a target, or sets a field of the last one. It implements pflag.Value.
type targetValue struct {
	flags *targetFlags
	field *field.Field[registry.Target] // a required field begins a target
}

var errNoTarget = errors.New("it requires a --target before it")

// Set implements pflag.Value.
func (v *targetValue) Set(text string) error {
	targets := &v.flags.targets
	switch {
	case v.field.Required && text == "":
		return errors.New("it is empty")
	case v.field.Required:
		*targets = append(*targets, registry.Target{URI: text})
		return nil
	case len(*targets) == 0:
		return errNoTarget
	}
	if err := setTarget(v.field, &(*targets)[len(*targets)-1], text); err != nil {
		return fmt.Errorf("the target %q: %w", (*targets)[len(*targets)-1].URI, err)
	}
	return nil
}

// String implements pflag.Value.
func (*targetValue) String() string { return "" }

// Type implements pflag.Value.
func (v *targetValue) Type() string { return v.field.Name }
