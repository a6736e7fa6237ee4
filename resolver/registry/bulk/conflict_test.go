package bulk_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
)

// change makes an edit by another user.
func change(t *testing.T, r *registry.Registry, name string, edit func(registry.Entry) (registry.Record, error)) {
	t.Helper()
	bo := registry.Actor{Name: "bo", Role: registry.Admin}
	if _, err := r.Apply(t.Context(), bo,
		registry.Edit{
			Key: registry.Name(name), IfVersion: registry.AnyVersion, Activate: true,
			Change: edit,
		}); err != nil {
		t.Fatal(err)
	}
}

func leading(uri string) func(registry.Entry) (registry.Record, error) {
	return func(before registry.Entry) (registry.Record, error) {
		record := before.Record
		record.Targets = []registry.Target{{URI: uri}}
		return record, nil
	}
}

// Changes by others since an export are not lost when the edited export is imported, in any format.
func TestEditedExport(t *testing.T) {
	for _, format := range []bulk.Format{bulk.CSV, bulk.TSV, bulk.NDJSON} {
		t.Run(string(format), func(t *testing.T) {
			r := open(t)
			imported(t, bulk.Import{Registry: r},
				"name,target,contact\nurn:nbn:fi:a,https://example.org/1,anna\nurn:nbn:fi:b,https://example.org/1,anna\n"+
					"urn:nbn:fi:c,https://example.org/1,anna\nurn:nbn:fi:d,https://example.org/1,anna\n")
			text := exported(t, r, bulk.ExportOptions{Format: format})
			change(t, r, "urn:nbn:fi:a", leading("https://example.org/2"))
			change(t, r, "urn:nbn:fi:b", registry.Withdraw("court order"))
			// The contact of all but d is edited; d is unedited, and c was not changed by others.
			edited := text
			for _, contact := range []string{"anna,,,", "anna\t\t\t", `"contact":"anna"`} { // not that of the column by
				edited = strings.Replace(edited, contact, strings.Replace(contact, "anna", "carl", 1), 3)
			}
			want := numbers{Changed: 1, Unchanged: 1, Rejected: 2}
			report, rejected := imported(t, bulk.Import{Registry: r, Format: format}, edited)
			if numbersOf(report) != want {
				t.Errorf("the report is %+v, want %+v; rejected %v", report, want, rejected)
			}
			if got := summary(t, r); got != "a 2 anna; b withdrawn court order  1 anna; c 1 carl; d 1 anna" {
				t.Errorf("there is %s", got)
			}
			for _, rejection := range rejected {
				for _, part := range []string{
					"based on version 1", "has version 2", "by bo",
					`"anna" in the registry and "carl" in the line`,
				} {
					if !errors.Is(rejection.Reason, registry.ErrConflict) ||
						!strings.Contains(rejection.Reason.Error(), part) {
						t.Errorf("%v does not say %s", rejection, part)
					}
				}
			}
			if report, _ := imported(t, bulk.Import{Registry: r, Format: format, Overwrite: true},
				edited); numbersOf(report) != (numbers{Changed: 1, Unchanged: 2, Rejected: 1}) {
				t.Errorf("the report of --overwrite is %+v", report)
			}
			if got := summary(t, r); got != "a 1 carl; b withdrawn court order  1 anna; c 1 carl; d 1 anna" {
				t.Errorf("after --overwrite there is %s", got)
			}
		})
	}
}

// TestConflicts is a table of files, the resulting record of "a" (version 2 with target 1, or before), and
// the number of rejected lines.
func TestConflicts(t *testing.T) {
	withdrawn := func(registry.Entry) (registry.Record, error) {
		return registry.Record{
			Status: registry.Withdrawn, Reason: "why",
			Targets: []registry.Target{{URI: "https://example.org/1"}},
		}, nil
	}
	for _, c := range []struct {
		name, text string
		before     func(registry.Entry) (registry.Record, error)
		overwrite  bool
		want       string
		rejected   int
	}{
		{name: "no version", text: "name,target\na,2\n", want: "a 1", rejected: 1},
		{name: "no version, equal", text: "name,target\na,1\n", want: "a 1"},
		{name: "an empty version", text: "name,target,if_version\na,2,\n", want: "a 1", rejected: 1},
		{name: "the version", text: "name,target,if-version\na,2,2\n", want: "a 2"},
		{name: "an old version", text: "name,target,if_version\na,2,1\n", want: "a 1", rejected: 1},
		{name: "an old version, equal", text: "name,target,if_version\na,1,1\n", want: "a 1"},
		{name: "only if it is new", text: "name,target,if_version\na,2,0\nb,2,0\n", want: "a 1; b 2", rejected: 1},
		{
			name: "a version of a name that is not registered", text: "name,target,if_version\nb,2,1\n", want: "a 1",
			rejected: 1,
		},
		{name: "two versions", text: "name,target,if_version\na,2,2\na,3,1\n", want: "a 2", rejected: 1},
		{name: "the version on one of two lines", text: "name,target,if_version\na,2,\na,3,2\n", want: "a 2 3"},
		{name: "no number", text: "name,target,if_version\na,2,x\na,2,-1\n", want: "a 1", rejected: 2},
		{name: "a column more", text: "name,contact\na,anna\n", want: "a 1", rejected: 1},
		{name: "overwrite", text: "name,target\na,2\n", overwrite: true, want: "a 2"},
		{name: "overwrite an old version", text: "name,target,if_version\na,2,1\n", overwrite: true, want: "a 2"},
		{name: "withdraw", text: "name,status,reason\na,withdrawn,old\n", want: "a 1", rejected: 1},
		{
			name: "withdraw the version", text: "name,status,reason,if_version\na,withdrawn,old,2\n",
			want: "a withdrawn old  1",
		},

		{name: "withdrawn", before: withdrawn, text: "name,target\na,2\n", want: "a withdrawn why  1", rejected: 1},
		{
			name: "withdrawn, without status", before: withdrawn, text: "name,target,if_version\na,2,2\n",
			want: "a withdrawn why  2",
		},
		{
			name: "withdrawn, overwritten without status", before: withdrawn, overwrite: true, text: "name,target\na,2\n",
			want: "a withdrawn why  2",
		},
		{
			name: "withdrawn, the line says so", before: withdrawn, text: "name,status,if_version\na,active,2\n",
			want: "a 1",
		},
		{
			name: "withdrawn, overwritten by a line that says so", before: withdrawn, overwrite: true,
			text: "name,status\na,active\n", want: "a 1",
		},
		{
			name: "withdrawn since", before: withdrawn, overwrite: true, text: "name,status,if_version\na,active,1\n",
			want: "a withdrawn why  1", rejected: 1,
		},

		{
			name: "minted", before: registry.Put(registry.Record{Status: registry.Reserved}), text: "name,target\na,2\n",
			want: "a 2",
		},
		{
			name: "minted, with its version", before: registry.Put(registry.Record{Status: registry.Reserved}),
			text: "name,target,if_version\na,2,2\n", want: "a 2",
		},
		{
			name: "minted, an alias", before: registry.Put(registry.Record{Status: registry.Reserved}),
			text: "name,alias\na,urn:nbn:fi:z\n", want: "a = urn:nbn:fi:z",
		},
		{
			name: "minted, all of it", before: registry.Put(registry.Record{Status: registry.Reserved}),
			text: "name,target,contact,metadata\na,2,anna,{}\n", want: "a 2 {} anna",
		},
		{
			name: "minted, without target", before: registry.Put(registry.Record{Status: registry.Reserved}),
			text: "name,contact\na,anna\n", want: "a reserved   anna",
		},
		{
			name: "minted, and said to be reserved", before: registry.Put(registry.Record{Status: registry.Reserved}),
			text: "name,target,status\na,2,reserved\n", want: "a reserved   2",
		},
		{
			name: "reserved for others", before: registry.Put(registry.Record{Status: registry.Reserved, Contact: "bo"}),
			text: "name,target,contact\na,2,anna\n", want: "a reserved   bo", rejected: 1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := open(t)
			first := registry.Put(registry.Record{Status: registry.Reserved, Contact: "first"})
			if c.before == nil {
				c.before = registry.Put(registry.Record{Targets: []registry.Target{{URI: "https://example.org/1"}}})
			}
			change(t, r, "urn:nbn:fi:a", first)
			change(t, r, "urn:nbn:fi:a", c.before)
			text := strings.NewReplacer("\na,", "\nurn:nbn:fi:a,", "\nb,", "\nurn:nbn:fi:b,").Replace(c.text)
			if strings.Contains(text, ",target") {
				text = regexp.MustCompile(`(:[ab],)([123])`).ReplaceAllString(text, "${1}https://example.org/$2")
			}
			_, rejected := imported(t, bulk.Import{Registry: r, Overwrite: c.overwrite}, text)
			if got := summary(t, r); got != c.want || len(rejected) != c.rejected {
				t.Errorf("%q made\n%s, want\n%s; rejected %v", text, got, c.want, rejected)
			}
		})
	}
}

// A department edits its own export, although only an administrator may set the time of a version or change a
// prefix.
func TestExportOfDepartment(t *testing.T) {
	for _, format := range []bulk.Format{bulk.CSV, bulk.NDJSON} {
		r := open(t)
		imported(t, bulk.Import{Registry: r},
			"name,prefix,target,contact\nurn:nbn:fi:a:,true,https://example.org/p/,\nurn:nbn:fi:a:1,,https://example.org/1,anna\nurn:nbn:fi:a:2,,https://example.org/2,anna\n")
		writer := registry.Actor{Name: "bo", Role: registry.Writer, Prefixes: []string{"urn:nbn:fi:a"}}
		text := strings.Replace(exported(t, r, bulk.ExportOptions{Format: format, Prefix: "urn:nbn:fi:a"}),
			"example.org/1", "example.org/3", 1)
		report, rejected := imported(t, bulk.Import{Registry: r, Actor: writer, Format: format}, text)
		if numbersOf(report) != (numbers{Changed: 1, Unchanged: 2}) {
			t.Errorf("%s: the report is %+v; rejected %v", format, report, rejected)
		}
		e, err := r.Get(t.Context(), registry.Name("urn:nbn:fi:a:1"))
		if err != nil || e.By != "bo" || e.Targets[0].URI != "https://example.org/3" {
			t.Errorf("%s: the entry is %+v, %v", format, e, err)
		}
		text = strings.Replace(exported(t, r, bulk.ExportOptions{Format: format}), "example.org/p/",
			"example.org/q/", 1)
		if _, rejected := imported(t, bulk.Import{Registry: r, Actor: writer, Format: format},
			text); len(rejected) != 1 || !errors.Is(rejected[0].Reason, registry.ErrDenied) {
			t.Errorf("%s: a prefix was changed: %v", format, rejected)
		}
	}
}

// A new prefix in a sandbox may declare itself no sandbox: names below it are registered permanently, and an
// export shows it.
func TestPrefixSaidToBeNoSandbox(t *testing.T) {
	for text, purged := range map[string]int{
		"name,prefix,sandbox,target\nurn:nbn:fi:,true,true,\nurn:nbn:fi:a:,true,false,\nurn:nbn:fi:a:1,,,https://example.org/1\n": 1,
		"name,prefix,sandbox,target\nurn:nbn:fi:,true,true,\nurn:nbn:fi:a:,true,,\nurn:nbn:fi:a:1,,,https://example.org/1\n":      1,
		"name,prefix,sandbox,target\nurn:nbn:fi:,true,true,\nurn:nbn:fi:a:,true,true,\nurn:nbn:fi:a:1,,,https://example.org/1\n":  3,
	} {
		r := open(t)
		if _, rejected := imported(t, bulk.Import{Registry: r}, text); len(rejected) > 0 {
			t.Fatal(rejected)
		}
		if n, err := r.Purge(t.Context(), admin, "urn:nbn:fi:", ""); err != nil || n != purged {
			t.Errorf("%q: purged %d, %v; there is %s", text, n, err, summary(t, r))
		}
	}
}

// A name below a prefix that is no sandbox, nested in a sandbox, is registered permanently, whatever else the
// same file contains.
func TestInnerPrefixIsNoSandbox(t *testing.T) {
	for _, text := range []string{
		// The outer prefix comes in the same file as the name.
		"name,prefix,sandbox,target\nurn:nbn:fi:,true,true,\nurn:nbn:fi:a:1,,,https://example.org/1\n",
		"name,prefix,sandbox,target,if_version,contact\nurn:nbn:fi:,true,true,,,\nurn:nbn:fi:a:,true,,,1,anna\nurn:nbn:fi:a:1,,,https://example.org/1,,\n",
	} {
		r := open(t)
		imported(t, bulk.Import{Registry: r}, "name,prefix,sandbox\nurn:nbn:fi:a:,true,\n")
		if _, rejected := imported(t, bulk.Import{Registry: r}, text); len(rejected) > 0 {
			t.Fatal(rejected)
		}
		if n, err := r.Purge(t.Context(), admin, "urn:nbn:fi:", ""); err != nil || n != 1 {
			t.Errorf("%q: purged %d, %v; there is %s", text, n, err, summary(t, r))
		}
	}
}
