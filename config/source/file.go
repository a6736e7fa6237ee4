// Package source reads the files of a configuration: their values, where each is written, and what in them is taken by YAML or TOML for
// something else than by those who write it.
package source

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Schema is what must be known of the settings to say what is wrong with how they are written. Paths are dotted, with the indexes of
// lists: "namespaces.0.nid".
type Schema struct {
	// SecretNames are the last parts of the paths of settings that may hold a secret by mistake.
	SecretNames map[string]bool
	// MayHoldSecret reports whether the value at a path is, is in, or contains one that may hold a secret by mistake.
	MayHoldSecret func(path string) bool
	IsTable       func(path string) bool // settings are below the path
	IsText        func(path string) bool // a setting is a text, or a list of texts
}

// File is a file of settings.
type File struct {
	Name   string
	Values map[string]any
	// Empty are the paths that are written without a value.
	Empty []string

	positions positions
	written   writing
}

// positions are those of the keys and elements of a file, by dotted path.
type positions interface {
	// at returns the position of path, or of the nearest table or list around it; the zero value if none is in the file.
	at(path string) Position
}

// At returns the position of a path, or of the nearest table or list around it; the zero value if none is in the file.
func (f *File) At(path string) Position {
	if f == nil || f.positions == nil {
		return Position{}
	}
	return f.positions.at(path)
}

// Instead returns faults of the values of a file, with what is written in it in place of what the decoder says of it. unknown begins what
// that says of a key that is no setting.
func (f *File) Instead(faults Faults, unknown string) Faults {
	if f == nil {
		return faults
	}
	return f.written.instead(faults, f.Name, unknown)
}

// IsWrong reports whether something is written in the file that is taken for something else.
func (f *File) IsWrong() bool { return f != nil && len(f.written.faults) > 0 }

// Read reads and parses a file of YAML or TOML once. Its error is of type Faults, or the reason why the file cannot be read.
func Read(name string, schema Schema) (*File, error) {
	kind := strings.TrimPrefix(filepath.Ext(name), ".")
	if !slices.Contains([]string{"yaml", "yml", "toml"}, kind) {
		return nil, fmt.Errorf("reading configuration %s: %w", name, errors.New("the name does not end in .yaml, .yml or .toml"))
	}
	text, err := os.ReadFile(name) //nolint:gosec // it is the administrator's
	if err != nil {
		return nil, fmt.Errorf("reading configuration %s: %w", name, err)
	}
	if at, message := notUTF8(text); message != "" {
		return nil, Faults{{File: name, Position: at, Message: message}}
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // as some editors begin a file
	f := &File{Name: name, Values: make(map[string]any)}
	if isTOML(name) {
		f.positions, f.written = readTOML(text, schema)
		err = toml.Unmarshal(text, &f.Values)
	} else {
		err = f.readYAML(text, schema)
	}
	if err != nil {
		return nil, syntax{schema, strings.Split(string(text), "\n")}.explain(name, text, err)
	}
	return f, nil
}

func isTOML(path string) bool { return filepath.Ext(path) == ".toml" }

// readYAML reads a YAML file. viper would parse it once more, which takes most of a start with many rules.
func (f *File) readYAML(text []byte, schema Schema) error {
	parsed, err := parseYAML(text)
	if err != nil || parsed.root == nil {
		return err
	}
	if err := parsed.root.Decode(&f.Values); err != nil {
		return err
	}
	if parsed.message != "" {
		return Faults{{File: f.Name, Position: parsed.at, Message: parsed.message}}
	}
	f.positions, f.Empty, f.written = yamlPositions{parsed.root}, withoutValue(parsed.root), writtenInYAML(parsed.root, schema)
	return nil
}
