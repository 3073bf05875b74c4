package main

import "github.com/spf13/cobra"

func (a *app) serve() *cobra.Command {
	port := 0
	c := &cobra.Command{Use: "serve", Example: a.examples("serve", "serve"), Args: a.noArguments, RunE: func(*cobra.Command, []string) error { return nil }}
	c.Flags().IntVar(&port, "port", 0, a.usage("serve")("port"))
	return c
}
