package testserver

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// picturesVariable names the folder for pictures of pages. Where it is set, each page is shown on all screens.
const picturesVariable = "URND_PICTURES"

// Screens are the screens that pages are shown on: wide and narrow windows, with the light and the dark theme.
func Screens() []Screen {
	return []Screen{{Width: 1200, Height: 900}, {Width: 400, Height: 800, Dark: true}, {Width: 1200, Height: 900, Dark: true}, {Width: 400, Height: 800}}
}

// EveryScreen reports whether each page is shown on all screens, as in long tests and for pictures.
func EveryScreen() bool { return Long() || os.Getenv(picturesVariable) != "" }

// ScreensOf returns the screens that the page in a place of a list is shown on: all where EveryScreen, else one, by turns, so that each has
// its share of the pages.
func ScreensOf(place int) []Screen {
	all := Screens()
	if EveryScreen() {
		return all
	}
	return all[place%len(all):][:1]
}

// OnScreens runs a test for each of Screens, with the names of pages that are shown on it, in parallel.
func OnScreens(t *testing.T, names []string, test func(t *testing.T, screen Screen, names []string)) {
	t.Helper()
	for _, screen := range Screens() {
		var shown []string
		for place, name := range names {
			if slices.Contains(ScreensOf(place), screen) {
				shown = append(shown, name)
			}
		}
		t.Run(screen.name(), func(t *testing.T) {
			t.Parallel()
			test(t, screen, shown)
		})
	}
}

// name is the part of the name of a picture that says which screen it is of.
func (s Screen) name() string {
	theme := "light"
	if s.Dark {
		theme = "dark"
	}
	return fmt.Sprintf("%d-%s", s.Width, theme)
}

// KeepPicture writes a picture of the page that is shown on a screen into the folder URND_PICTURES, where it is set.
func (c *Chromium) KeepPicture(t testing.TB, page string, screen Screen) {
	t.Helper()
	directory := os.Getenv(picturesVariable)
	if directory == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(directory, page+"-"+screen.name()+".png"), c.Picture(t), 0o600); err != nil {
		t.Fatal(err)
	}
}
