package cli

import (
	"encoding"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// AddParsed adds a flag to cmd whose value is parsed with the command line: an invalid value is a usage error,
// before the command does anything.
func AddParsed[T any](cmd *cobra.Command, to *T, name, usage string, parse func(text string) (T, error)) {
	cmd.Flags().Var(&parsed[T]{to: to, parse: parse}, name, usage)
}

// parsed implements pflag.Value.
type parsed[T any] struct {
	to    *T
	text  string
	parse func(text string) (T, error)
}

// Set implements pflag.Value.
func (p *parsed[T]) Set(text string) (err error) {
	p.text = text
	*p.to, err = p.parse(text)
	return err
}

// String implements pflag.Value.
func (p *parsed[T]) String() string { return p.text }

// Type implements pflag.Value.
func (*parsed[T]) Type() string { return "text" }

// AddParsedList adds a flag to cmd with comma-separated values, which may be repeated.
func AddParsedList[T any](cmd *cobra.Command, to *[]T, name, usage string, parse func(text string) (T, error)) {
	AddParsed(cmd, to, name, usage, func(text string) ([]T, error) {
		all := *to
		for one := range strings.SplitSeq(text, ",") {
			value, err := parse(strings.TrimSpace(one))
			if err != nil {
				return nil, err
			}
			all = append(all, value)
		}
		return all, nil
	})
}

// ParseText parses a value of a type that implements encoding.TextUnmarshaler.
func ParseText[T any, P interface {
	*T
	encoding.TextUnmarshaler
}](text string) (value T, err error) {
	err = P(&value).UnmarshalText([]byte(text))
	return value, err
}

// Word is an allowed value of a flag, and its meaning.
type Word[T any] struct {
	Name  string
	Value T
}

// Words are the allowed values of a flag.
type Words[T any] []Word[T]

// Names returns the allowed values.
func (w Words[T]) Names() (names []string) {
	for _, word := range w {
		names = append(names, word.Name)
	}
	return names
}

// String returns the allowed values for messages: "text, csv or json".
func (w Words[T]) String() string { return JoinOr(w.Names()...) }

// JoinOr joins alternatives for messages.
func JoinOr(names ...string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// AddChoice adds a flag to cmd that takes one of words, by default the first one. Shell completion offers them.
func AddChoice[T any](cmd *cobra.Command, to *T, name, usage string, words Words[T]) {
	choiceP(cmd, to, name, "", usage, words)
}

// choiceP is AddChoice with a shorthand, "" for none.
func choiceP[T any](cmd *cobra.Command, to *T, name, short, usage string, words Words[T]) {
	p := &parsed[T]{to: to, text: words[0].Name, parse: func(text string) (T, error) {
		for _, word := range words {
			if strings.EqualFold(word.Name, text) {
				return word.Value, nil
			}
		}
		return *to, fmt.Errorf("it requires %s", words)
	}}
	*to = words[0].Value
	cmd.Flags().VarP(p, name, short, usage)
	Complete(cmd, name, words.Names()...)
}

// Complete sets the values that shell completion offers for a flag.
func Complete(cmd *cobra.Command, name string, words ...string) {
	// It fails only for an unknown flag or a second call: TestCompletion excludes both.
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// AddCheck adds a check of the flags and arguments of cmd, which runs before the command; its error is a usage
// error.
func AddCheck(cmd *cobra.Command, check func(args []string) error) {
	before := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if before != nil {
			if err := before(cmd, args); err != nil {
				return err
			}
		}
		return Usage(check(args))
	}
}

// Require makes a flag of cmd mandatory. why explains it in the error.
func Require(cmd *cobra.Command, name, why string) {
	AddCheck(cmd, func([]string) error {
		if f := cmd.Flags().Lookup(name); !f.Changed || f.Value.String() == "" {
			return fmt.Errorf("--%s is required: %s", name, why)
		}
		return nil
	})
}

// Exclude makes two flags of cmd mutually exclusive.
func Exclude(cmd *cobra.Command, a, b string) {
	AddCheck(cmd, func([]string) error {
		if cmd.Flags().Changed(a) && cmd.Flags().Changed(b) {
			return fmt.Errorf("--%s and --%s are mutually exclusive: use one of them", a, b)
		}
		return nil
	})
}

// The expected values of flags with types of pflag, in place of the errors of package strconv.
var (
	errNumber   = errors.New("a number is required")
	errCount    = errors.New("a number, 0 or more, is required")
	errDuration = errors.New("a duration, such as 30s, 5m or 24h, is required")
	errBool     = errors.New("true or false is required")
)

// flagError rewords an error of a flag for users.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &invalid):
		flag, cause := invalid.GetFlag(), invalid.Unwrap()
		switch flag.Value.Type() {
		case "int", "int64", "intSlice":
			cause = errNumber
		case "uint", "uint64":
			cause = errCount
		case "duration":
			cause = errDuration
		case "bool":
			cause = errBool
		}
		value := strconv.Quote(invalid.GetValue())
		if strings.Contains(cause.Error(), value) {
			return fmt.Errorf("--%s: %w", flag.Name, cause)
		}
		return fmt.Errorf("--%s %s: %w", flag.Name, value, cause)
	case errors.As(err, &unknown):
		if similar := similarFlag(cmd, unknown.GetSpecifiedName()); similar != "" {
			return fmt.Errorf("%w; did you mean --%s?", err, similar)
		}
	}
	return err
}

// similarFlag returns the flag of a command that is most similar to a mistyped name, "" for none.
func similarFlag(cmd *cobra.Command, name string) (similar string) {
	names := &cobra.Command{SuggestionsMinimumDistance: 2}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	if found := names.SuggestionsFor(name); len(found) > 0 {
		return found[0]
	}
	return ""
}
