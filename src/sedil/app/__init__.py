"""The page behind ``sedil app``: denoise, fill, learn and look at volumes in a browser.

Gradio, from the extra `app`, is loaded when the page is built and not before.
"""
