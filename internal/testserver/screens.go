package testserver

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// picturesVariable names the folder for screenshots. If it is set, each page is shown on all screens.
const picturesVariable = "URND_PICTURES"

// Screens returns the screens for pages: wide and narrow windows, with the light and the dark theme.
func Screens() []Screen {
	return []Screen{
		{Width: 1200, Height: 900},
		{Width: 400, Height: 800, Dark: true},
		{Width: 1200, Height: 900, Dark: true},
		{Width: 400, Height: 800},
	}
}

// EveryScreen reports whether each page is shown on all screens, as in long tests and for screenshots.
func EveryScreen() bool { return Long() || os.Getenv(picturesVariable) != "" }

// ScreensOf returns the screens for the page at a position of a list: all screens if EveryScreen, otherwise
// one, in rotation.
func ScreensOf(place int) []Screen {
	all := Screens()
	if EveryScreen() {
		return all
	}
	return all[place%len(all):][:1]
}

// OnScreens runs a test for each of Screens in parallel, with the names of the pages shown on it.
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

// name returns the part of the name of a screenshot that identifies the screen.
func (s Screen) name() string {
	theme := "light"
	if s.Dark {
		theme = "dark"
	}
	return fmt.Sprintf("%d-%s", s.Width, theme)
}

// SaveScreenshot writes a screenshot of the current page to the folder URND_PICTURES, if that is set.
func (c *Chromium) SaveScreenshot(t testing.TB, page string, screen Screen) {
	t.Helper()
	directory := os.Getenv(picturesVariable)
	if directory == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(directory, page+"-"+screen.name()+".png"), c.Screenshot(t),
		0o600); err != nil {
		t.Fatal(err)
	}
}
