def version():
    import six

    return six.__version__
