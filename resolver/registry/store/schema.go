package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/pressly/goose/v3"
)

//go:embed schema/*.sql
var files embed.FS

// Dialect describes how the text of statements differs between databases.
type Dialect struct {
	replace []string // replacements in the schema, as pairs
	table   string   // end of a CREATE TABLE statement
	keyed   string   // the same for a table whose rows are stored in the order of its primary key
	in      string   // replacement for "IN ($1...)"
	dollar  string   // first character of a parameter
}

// SQLite returns the dialect of SQLite 3.38 and later. Lists are JSON arrays.
func SQLite() Dialect {
	return Dialect{
		replace: []string{"BIGINT", "INTEGER", "SMALLINT", "INTEGER", "BYTEA", "BLOB", ` COLLATE "C"`, ""},
		table:   ") STRICT;", keyed: ") STRICT, WITHOUT ROWID;", in: "IN (SELECT value FROM json_each(?$1))",
		dollar: "?",
	}
}

// PostgreSQL returns the dialect of PostgreSQL. Lists are arrays.
func PostgreSQL() Dialect {
	return Dialect{table: ");", keyed: ");", in: "= ANY($$$1)", dollar: "$"}
}

// Migrations returns the files of the schema as goose migrations, in the order of their versions.
func (d Dialect) Migrations() ([]*goose.Migration, error) {
	names, err := fs.Glob(files, "schema/*.sql")
	if err != nil {
		return nil, err
	}
	all := make([]*goose.Migration, 0, len(names))
	for _, name := range names {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return nil, err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("reading the schema: %w", err)
		}
		up := func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, d.schema(string(text)))
			return err
		}
		all = append(all, goose.NewGoMigration(version, &goose.GoFunc{RunTx: up}, nil))
	}
	return all, nil
}

func (d Dialect) schema(text string) string {
	text = strings.ReplaceAll(text, ") /* without rowid */;", "\x00")
	text = strings.ReplaceAll(text, "\n);", "\n"+d.table)
	text = strings.ReplaceAll(text, "\x00", d.keyed)
	return strings.NewReplacer(d.replace...).Replace(text)
}

var list = regexp.MustCompile(`IN \(\$(\d+)\.\.\.\)`)

// Statement returns a statement in the syntax of the database.
func (d Dialect) Statement(text string) string {
	text = list.ReplaceAllString(text, d.in)
	if d.dollar != "$" {
		text = strings.ReplaceAll(text, "$", d.dollar)
	}
	return text
}
