package title_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry/title"
)

// Column names of tables are recognized in the five languages, however their words are joined.
func TestPartOf(t *testing.T) {
	for column, want := range map[string]string{
		"Title": title.Title, "Titel": title.Title, "Titre": title.Title, "Título": title.Title, "题名": title.Title,
		"author": title.Creator, "Verfasserin": title.Creator, "Auteurs": title.Creator, "AUTORES": title.Creator,
		"作者": title.Creator, "Publication year": title.Year, "Erscheinungsjahr": title.Year,
		"Année de publication": title.Year, "Año": title.Year, "出版年": title.Year, "tags": title.Keywords,
		"Schlagwörter": title.Keywords, "Mots-clés": title.Keywords, "palabras_clave": title.Keywords,
		"关键词": title.Keywords, "": "", "target": "",
		"name": "",
	} {
		if part, ok := title.FindPart(column); part.Name != want || ok != (want != "") {
			t.Errorf("%q: %q, want %q", column, part.Name, want)
		}
	}
}

// Each written member is read, by its own part only, and no column belongs to two parts.
func TestParts(t *testing.T) {
	members, columns := make(map[string]string), make(map[string]string)
	for _, part := range title.Parts() {
		if !part.HasMember(part.Member) || !part.HasMember(strings.ToUpper(part.Member)) ||
			!slices.Contains(strings.Fields(part.Columns), part.Name) {
			t.Errorf("%s: member %q of %v", part.Name, part.Member, part.Members)
		}
		for _, member := range part.Members {
			if members[member] += part.Name; members[member] != part.Name {
				t.Errorf("member %q is of %s", member, members[member])
			}
		}
		for column := range strings.FieldsSeq(part.Columns) {
			if columns[column] += part.Name; columns[column] != part.Name {
				t.Errorf("column %q is of %s", column, columns[column])
			}
		}
	}
}
