"""Commands of the command line that have no home of their own: signing in, and finding out what is wrong."""
