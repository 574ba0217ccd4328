"""Images: denoising and inpainting them, estimating their noise, taking patches of them."""
