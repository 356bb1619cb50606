//go:build race

package wheel_test

const underRace = true
