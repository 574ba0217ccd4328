from sklearn.utils.estimator_checks import parametrize_with_checks

from sedil import SeparableDictionaryLearning


@parametrize_with_checks([SeparableDictionaryLearning(max_iter=30)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
