package registry

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/resolver/registry"
)

// targetFlags are the targets of a command line, in its order: each --target begins one, and the flags
// after it are about it.
type targetFlags struct{ targets []registry.Target }

// addTargets gives cmd the flags of targets.
func addTargets(cmd *cobra.Command) *targetFlags {
	f := new(targetFlags)
	add := func(name, usage, kind string, set func(t *registry.Target, text string) error) {
		cmd.Flags().Var(&targetValue{f, kind, set}, name, usage)
	}
	cmd.Flags().Var(&targetValue{f, "URI", nil}, "target", "where the name leads: a `URI`, or, of a prefix, "+
		"also a template; may be repeated")
	add("type", "the media `type` of the --target before, such as application/pdf", "type", func(t *registry.Target, text string) error {
		t.Type = text
		return nil
	})
	add("language", "the `language` of the --target before, such as fi", "language", func(t *registry.Target, text string) error {
		t.Language = text
		return nil
	})
	add("priority", "the `number` of the --target before by which targets are in order, "+
		"the least first",
		"number", func(t *registry.Target, text string) (err error) {
			t.Priority, err = strconv.Atoi(text)
			return err
		})
	add("from", "when the --target before begins to be valid: a `time`, or a date, "+
		"which means its beginning (UTC)",
		"time", func(t *registry.Target, text string) (err error) {
			t.From, err = readTime(text, false)
			return err
		})
	add("until", "when the --target before ends to be valid: a `time`, or a date, "+
		"which means its end (UTC)",
		"time", func(t *registry.Target, text string) (err error) {
			t.Until, err = readTime(text, true)
			if len(text) == len(time.DateOnly) {
				t.Until = t.Until.Add(time.Millisecond) // a target is not valid at Until
			}
			return err
		})
	add("target-note", "a note about the --target before: a `text`", "text", func(t *registry.Target, text string) error {
		t.Note = text
		return nil
	})
	add("rel", "the `relation` of the --target before to what is named, such as describedby or gs1:pip", "relation",
		func(t *registry.Target, text string) error {
			t.Rel = text
			return nil
		})
	add("title", "the `title` of the --target before, for people", "title", func(t *registry.Target, text string) error {
		t.Title = text
		return nil
	})
	add("context", "for whom the --target before is, such as a country: a `word`", "word", func(t *registry.Target, text string) error {
		t.Context = text
		return nil
	})
	return f
}

// targetValue is a flag that begins a target, or is about the last one. It implements pflag.Value.
type targetValue struct {
	flags *targetFlags
	kind  string
	set   func(t *registry.Target, text string) error // nil begins a target
}

var errNoTarget = errors.New("it is about a --target, and there is none before it")

// Set implements pflag.Value.
func (v *targetValue) Set(text string) error {
	targets := &v.flags.targets
	switch {
	case v.set == nil && text == "":
		return errors.New("it is empty")
	case v.set == nil:
		*targets = append(*targets, registry.Target{URI: text})
		return nil
	case len(*targets) == 0:
		return errNoTarget
	}
	if err := v.set(&(*targets)[len(*targets)-1], text); err != nil {
		return fmt.Errorf("the target %q: %w", (*targets)[len(*targets)-1].URI, err)
	}
	return nil
}

// String implements pflag.Value.
func (*targetValue) String() string { return "" }

// Type implements pflag.Value.
func (v *targetValue) Type() string { return v.kind }
