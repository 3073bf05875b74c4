package chart

import (
	"bytes"
	"testing"

	"locklab/reports/internal/samples"
)

// A picture in Chinese asks the catalogues for nothing in English, and its letters are
// other ones.
func TestPicturesSpeakChinese(t *testing.T) {
	small, large, par, tolerance, sweep := gridSample(), manySample(), parSample(), toleranceSample(), sweepSample()
	h, j := samples.GCPause()
	run := &Timeline{History: h, Judgement: j, Verdicts: j.Verdicts}
	for name, c := range map[string]Picture{
		"grid":      &small,
		"overview":  &large,
		"par":       &par,
		"tolerance": &tolerance,
		"sweep":     sweep,
		"run":       run,
	} {
		t.Run(name, func(t *testing.T) {
			asked := map[string]bool{}
			before := say
			defer func() { say = before }()
			say = func(lang, key string, pairs ...string) string {
				asked[lang] = true
				return before(lang, key, pairs...)
			}
			var english, chinese bytes.Buffer
			for lang, w := range map[string]*bytes.Buffer{"": &english, "zh": &chinese} {
				clear(asked)
				if err := SVG(w, c, Format{Lang: lang}); err != nil {
					t.Fatal(err)
				}
				if want := pictured(lang); len(asked) != 1 || !asked[want] {
					t.Errorf("a picture in %q asks for texts in %v", lang, asked)
				}
			}
			if bytes.Equal(english.Bytes(), chinese.Bytes()) {
				t.Error("both pictures are the same")
			}
		})
	}
}
