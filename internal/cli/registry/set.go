package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
)

// setFlags are the flags of urnd registry set.
type setFlags struct {
	cmd                             *cobra.Command
	targets                         *targetFlags
	add, reserve, activate, replace bool
	unresolvable                    bool
	remove                          []string
	document                        string
	documentStatus                  bool // the document has a status
}

// recordFlags returns the fields of a record that have their own flags.
func recordFlags() (all field.Fields[registry.Record]) {
	for _, f := range field.RecordFields() {
		if f.Type != field.Status && f.Type != field.Targets && !f.ReadOnly && !f.WithdrawnOnly {
			all = append(all, f)
		}
	}
	return all
}

func newSet(w Wiring) *cobra.Command {
	edit := registry.Edit{IfVersion: registry.AnyVersion}
	var version uint
	cmd := &cobra.Command{
		Use:        "set NAME [URI] [--target URI [--type TYPE] [--language TAG]...]...",
		Short:      "Register a name, or change its entry",
		SuggestFor: []string{"add", "create", "new", "register", "put", "update", "edit", "change", "note"},
		Long: `Register a name, or change its entry, and print the changes. Fields that are not given stay as they
are; the given targets replace the existing ones, unless --add is used. With --replace only what is
given remains. Each change makes a new version: see urnd registry history.

URI after the name is a --target. With --note alone the entry stays as it is, and the note makes a
version of its own.

The flags --type, --language, --priority, --from, --until, --target-note, --rel, --title and
--context belong to the --target before them. A reserved name that gets targets becomes active.

With --document the entry is read from a document, as urnd registry get --output json prints it;
its note, version and times are ignored.`,
		Example: `  urnd registry set urn:nbn:fi:example-1 https://repository.example.org/1
  urnd registry set urn:nbn:fi:example-1 --target https://repository.example.org/1.pdf --type application/pdf --language fi` +
			` --target https://repository.example.org/1 --type text/html
  urnd registry set urn:nbn:fi:example-1 --add --target https://archive.example.org/1 --priority 9 --note 'a copy'
  urnd registry set urn:nbn:fi:example-2 --reserve --contact mailto:anna@example.org
  urnd registry set urn:nbn:fi:example-2 --metadata '{"title":"Kalevala"}'
  urnd registry set urn:isbn:9789510184349 --alias-of urn:nbn:fi:example-1
  urnd registry set urn:nbn:fi:example: --prefix --target https://example.org/id/
  urnd registry set urn:nbn:fi: --prefix --authoritative
  urnd registry get urn:nbn:fi:example-1 -o json | urnd registry set urn:nbn:fi:example-5 --document -`,
		Args: cobra.MaximumNArgs(2),
	}
	s := &setFlags{cmd: cmd, targets: addTargets(cmd)}
	f := addStore(cmd, w)
	prefix := addPrefix(cmd)
	s.addFlags()
	cmd.Flags().StringVar(&edit.Note, "note", "", "reason for the history: a `text`")
	cmd.Flags().UintVar(&version, "if-version", 0,
		"change it only if its current version has this `number`; 0: only if it is not registered")
	output := cli.AddOutput(cmd, "one object for the name", cli.CSV, cli.JSON)
	cli.AddCheck(cmd, func(args []string) (err error) {
		if len(args) > 1 {
			err = cmd.Flags().Set("target", args[1])
		}
		if err == nil {
			err = s.check(args)
		}
		if err == nil {
			edit.Key, edit.Change, err = s.edit(args, *prefix)
		}
		if cmd.Flags().Changed("if-version") {
			edit.IfVersion = int(version)
		}
		return err
	})
	return f.run(made, "opening the registry", "nothing was changed",
		func(ctx context.Context, in *session, _ []string) error {
			return s.run(ctx, in, &differenceFlags{output: output}, edit)
		})
}

// run makes the change, and prints it.
func (s *setFlags) run(ctx context.Context, in *session, d *differenceFlags, edit registry.Edit) (err error) {
	if edit.Key, err = in.key(edit.Key.Name, edit.Key.Kind == registry.KindPrefix); err != nil {
		return err
	}
	withdrawn, change := false, edit.Change
	edit.KeepNote, edit.Activate = s.noteAlone(), s.activate || s.documentStatus
	edit.AllowUnresolvable, edit.OutsideSandbox = s.unresolvable, s.text("sandbox") == "false"
	edit.Change = func(before registry.Entry) (registry.Record, error) {
		record, err := change(before)
		withdrawn = before.Status == registry.Withdrawn && record.Status == registry.Withdrawn
		return record, err
	}
	changed, err := in.Change(ctx, in.actor, false, edit)
	if err := d.print(in, changed, err); err != nil {
		return err
	}
	if warning := in.Warning(edit.Key); warning != nil {
		in.say("warning: %v", warning)
	}
	if withdrawn {
		in.say("%s is still withdrawn, without a target: --activate makes it active again", edit.Key)
	}
	return nil
}

func (s *setFlags) addFlags() {
	flags := s.cmd.Flags()
	flags.BoolVar(&s.add, "add", false, "keep existing targets; one with an equal URI is replaced")
	flags.StringArrayVar(&s.remove, "remove-target", nil, "remove the target with this `URI`; repeatable")
	flags.BoolVar(&s.reserve, "reserve", false, "reserve the name, without targets")
	flags.BoolVar(&s.activate, "activate", false, "activate the name, also if it was withdrawn")
	for _, f := range recordFlags() {
		usage := strings.ReplaceAll(f.FlagUsage(), "the configuration", "registry.redirect")
		if f.Type == field.Bool {
			flags.Bool(f.FlagName(), false, usage)
		} else {
			flags.String(f.FlagName(), "", usage)
		}
	}
	flags.BoolVar(&s.unresolvable, "allow-unresolvable", false, unresolvableHelp)
	flags.BoolVar(&s.replace, "replace", false, "replace the whole entry: keep only what is given")
	flags.StringVar(&s.document, "document", "",
		"read the entry from the document in this `file`, - for standard input")
}

var errDocumentAlone = errors.New("--document cannot be combined with other content flags")

// check returns an error for incompatible or missing flags and arguments.
func (s *setFlags) check(args []string) error {
	changed := s.cmd.Flags().Changed
	content := s.hasContent()
	switch {
	case s.document != "" && content:
		return errDocumentAlone
	case s.document == "" && len(args) == 0:
		return errors.New("the name is missing: urnd registry set NAME URI")
	case s.document == "" && !content && !s.replace && !changed("note"):
		return errors.New("there is nothing to set: use --target, --alias-of, --reserve or another flag of content")
	case s.text("alias-of") != "" && len(s.targets.targets) > 0:
		return errors.New("--alias-of and --target are mutually exclusive: an alias resolves to the target of the " +
			"other name")
	case s.reserve && s.activate:
		return errors.New("--reserve and --activate are mutually exclusive")
	default:
		return nil
	}
}

// text returns the value of a flag, "" if it was not used.
func (s *setFlags) text(name string) string {
	if f := s.cmd.Flags().Lookup(name); f.Changed {
		return f.Value.String()
	}
	return ""
}

// hasContent reports whether a flag for the content of the record was used.
func (s *setFlags) hasContent() bool {
	content := []string{"target", "add", "remove-target", "reserve", "activate"}
	for _, f := range recordFlags() {
		content = append(content, f.FlagName())
	}
	return slices.ContainsFunc(content, s.cmd.Flags().Changed)
}

// noteAlone reports whether only a note is given.
func (s *setFlags) noteAlone() bool { return s.document == "" && !s.replace && !s.hasContent() }

// edit returns the key and the change.
func (s *setFlags) edit(
	args []string, prefix bool,
) (registry.Key, func(registry.Entry) (registry.Record, error), error) {
	if s.document != "" {
		return s.ofDocument(args, prefix)
	}
	given, err := s.given()
	if err != nil {
		return registry.Key{}, nil, err
	}
	key := registry.Key{Name: args[0]}
	if prefix {
		key.Kind = registry.KindPrefix
	}
	return key, func(before registry.Entry) (registry.Record, error) {
		return s.record(before, given)
	}, nil
}

// given returns a record with the fields of flags.
func (s *setFlags) given() (given registry.Record, err error) {
	for _, f := range recordFlags() {
		text := s.text(f.FlagName())
		if f.Type == field.JSON && text != "" && !strings.HasPrefix(strings.TrimSpace(text), "{") { // a file
			read, err := cli.ReadAll(s.cmd, text, maxDocument)
			if err != nil {
				return given, err
			}
			text = string(read)
		}
		if err := f.SetText(&given, text); err != nil {
			return given, fmt.Errorf("--%s: %w", f.FlagName(), errors.Unwrap(err))
		}
	}
	return given, nil
}

// ofDocument returns the key and the change of a document. An argument replaces its name.
func (s *setFlags) ofDocument(
	args []string, prefix bool,
) (registry.Key, func(registry.Entry) (registry.Record, error), error) {
	text, err := cli.ReadAll(s.cmd, s.document, maxDocument)
	if err != nil {
		return registry.Key{}, nil, err
	}
	document, err := api.ReadName(text)
	if err != nil {
		return registry.Key{}, nil, fmt.Errorf("%s: %w", s.document, err)
	}
	if len(args) > 0 {
		document.Name = args[0]
	}
	document.Prefix = document.Prefix || prefix
	var reported struct {
		Status *json.RawMessage `json:"status"`
	}
	if err := json.Unmarshal(text, &reported); err != nil {
		return registry.Key{}, nil, fmt.Errorf("%s: %w", s.document, err)
	}
	s.documentStatus = reported.Status != nil
	return document.Key(), registry.Put(document.Record), nil
}

// record applies the flags to the record of an entry.
func (s *setFlags) record(before registry.Entry, given registry.Record) (registry.Record, error) {
	changed := s.cmd.Flags().Changed
	record := before.Record
	if s.replace {
		record = registry.Record{}
	}
	for _, f := range recordFlags() {
		if changed(f.FlagName()) {
			f.Copy(&record, &given)
		}
	}
	if changed("alias-of") {
		record.Targets = nil
	}
	if err := s.setTargets(&record); err != nil {
		return registry.Record{}, err
	}
	switch {
	case s.reserve:
		record.Status = registry.Reserved
	case s.activate:
		record.Status = registry.Active
	default:
		record = registry.Activated(before, record)
	}
	return record, forPrefixes(before.Key, &given)
}

// forPrefixes returns an error if flags for prefixes were used with a name.
func forPrefixes(key registry.Key, given *registry.Record) error {
	var flags []string
	used := false
	for _, f := range recordFlags() {
		if f.Kinds == field.Prefixes {
			flags = append(flags, "--"+f.FlagName())
			used = used || !f.Empty(given)
		}
	}
	if key.Kind == registry.KindPrefix || !used {
		return nil
	}
	slices.Sort(flags)
	last := len(flags) - 1
	return fmt.Errorf("%w: %s and %s are of prefixes: add --prefix", registry.ErrInvalid,
		strings.Join(flags[:last], ", "), flags[last])
}

func (s *setFlags) setTargets(record *registry.Record) error {
	given := s.targets.targets
	if len(given) > 0 {
		record.Alias = ""
	}
	switch {
	case s.add:
		record.Targets = slices.Clone(record.Targets)
		for _, t := range given {
			if i := indexOfTarget(record.Targets, t.URI); i >= 0 {
				record.Targets[i] = t
			} else {
				record.Targets = append(record.Targets, t)
			}
		}
	case len(given) > 0:
		record.Targets = given
	}
	for _, text := range s.remove {
		i := indexOfTarget(record.Targets, text)
		if i < 0 {
			return fmt.Errorf("%w: it has no target %s", registry.ErrInvalid, text)
		}
		record.Targets = slices.Delete(slices.Clone(record.Targets), i, i+1)
	}
	return nil
}

func indexOfTarget(targets []registry.Target, text string) int {
	return slices.IndexFunc(targets, func(t registry.Target) bool { return t.URI == text })
}

// maxDocument bounds an input document, in bytes.
const maxDocument = 4 << 20
