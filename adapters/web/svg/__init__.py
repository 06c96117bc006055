"""Drawings as SVG, made on the server: a graph of sub-questions, bars of time, plots of days."""
